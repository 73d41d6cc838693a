//! stub
pub struct Profile;
