//! What `quadpair explain --json` prints.

use super::Explained;
use crate::cli::layout::Registers;
use crate::cli::plan::{costs, way};
use quadpair::inspect::emitted::Emitted;
use quadpair::inspect::tiles::{Source, Step};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The whole record.
#[derive(Serialize)]
pub struct Record {
    name: String,
    warps: u32,
    shared_bytes: u32,
    layouts: Vec<Registers>,
    tiles: Vec<Value>,
    steps: Vec<Value>,
    instructions: Vec<Value>,
}

impl Record {
    /// The record of a kernel.
    pub fn of(explained: &Explained) -> Record {
        let (program, contents) = (&explained.made.program, &explained.contents);
        let tiles = contents.tiles.iter().map(|tile| {
            let mut record = place(&tile.source);
            record.insert("value".to_owned(), tile.value.into());
            record.insert("dtype".to_owned(), tile.ty.dtype.name().into());
            record.insert("pointer".to_owned(), tile.ty.is_pointer().into());
            record.insert("layout".to_owned(), tile.layout.into());
            record.insert("made_by".to_owned(), tile.made_by.clone().into());
            record.into()
        });
        Record {
            name: program.name().to_owned(),
            warps: program.threads() / 32,
            shared_bytes: program.shared_bytes(),
            layouts: contents.layouts.iter().map(Registers::of).collect(),
            tiles: tiles.collect(),
            steps: contents.steps.iter().map(step).collect(),
            instructions: explained.emitted.iter().map(emitted).collect(),
        }
    }
}

fn place(source: &Source) -> Map<String, Value> {
    let mut record = Map::new();
    record.insert("file".to_owned(), source.at.file().into());
    record.insert("line".to_owned(), source.at.line().into());
    record.insert("loop".to_owned(), source.turn_of.into());
    record
}

fn step(step: &Step) -> Value {
    let (source, more) = match step {
        Step::Converted(one) => {
            let costs: Map<String, Value> =
                costs(&one.plan).into_iter().map(|(what, cost)| (what.replace(' ', "_"), cost.into())).collect();
            let (from, to) = (one.layouts[0], one.layouts[1]);
            let way = way(&one.plan);
            let more = json!({
                "kind": "convert", "value": one.value, "from": from, "to": to, "element_bits": one.element_bits,
                "way": way, "cost": costs,
            });
            (one.source, more)
        }
        Step::Accessed(one) => {
            let access = &one.access;
            let kind = match (one.store, one.matrices) {
                (true, _) => "shared_store",
                (_, None) => "shared_load",
                (_, Some(_)) => "ldmatrix",
            };
            let more = json!({
                "kind": kind, "allocation": one.allocation, "dtype": one.dtype.name(), "layout": one.layout,
                "vector": access.vector, "instructions": access.instructions, "wavefronts": access.wavefronts,
                "ideal": access.ideal,
            });
            (one.source, more)
        }
        Step::Reduced(one) => {
            (one.source, json!({ "kind": "reduce", "value": one.value, "layout": one.layout, "made_by": one.made_by }))
        }
    };
    let mut record = place(&source);
    record.extend(more.as_object().cloned().unwrap_or_default());
    record.into()
}

fn emitted(one: &Emitted) -> Value {
    json!({
        "file": one.place.file, "line": one.place.line, "loop": one.place.turn_of,
        "work": one.work.name().replace(' ', "_"), "bytes": one.bytes, "registers": one.vector,
        "instructions": one.instructions, "wavefronts": one.shared.taken, "ideal": one.shared.ideal,
        "not_counted": one.shared.unknown, "guarded_by_data": one.shared.guarded,
    })
}
