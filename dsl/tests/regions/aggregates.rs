//! Structs of tiles.
