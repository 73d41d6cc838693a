//! Which names are run-time, and what run-time control flow carries.
//!
//! A *stage* says when a value is known. Names get the stage of what they are bound to, block by block, so shadowing is
//! Rust's own. Example:
//!
//! ```text
//! let n = t.block_n;                 // comptime
//! let mut acc = zeros::<f32>(..);    // run-time, declared outside the loop
//! for i in 0..blocks {               // `blocks` is run-time: a run-time loop, one frame
//!     let x = load(p + i);           // declared inside: not carried
//!     acc = acc + x;                 // assigned inside, declared outside: carried
//! }
//! ```
//!
//! A *frame* is a control construct around the current statement. A run-time frame collects the places that are assigned
//! under it and declared outside of it: these are what a loop carries and a branch merges.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, Lifetime, Member, UnOp};

use crate::spans::Ends;

/// When a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Comptime,
    RunTime,
}

impl Stage {
    /// The stage of what is made of both.
    pub fn join(self, other: Stage) -> Stage {
        if self == Stage::RunTime { self } else { other }
    }
}

/// What is known about the Rust type of a comptime value: whether it came from unsuffixed literals.
///
/// Rust leaves the type of `let half = 0.5;` open until something fixes it, so the expansion has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Integer,
    Float,
    Unknown,
}

/// A name in scope.
struct Binding {
    name: String,
    /// `None` until the first assignment to `let x;` or `let x = None;`.
    stage: Option<Stage>,
    number: Number,
    /// Run-time frames around the declaration.
    depth: usize,
}

/// A control construct around the current statement.
enum Frame {
    /// A loop that runs while tracing.
    Unrolled { label: Option<String> },
    /// A function that is traced where it stands, which no jump leaves.
    Function { of: &'static str },
    /// A loop or branch of the kernel.
    RunTime { control: &'static str, carried: Vec<Place> },
}

/// Something assigned to: a variable or fields of it.
#[derive(Clone)]
pub struct Place {
    /// The author's tokens.
    pub expr: Expr,
    /// Where the last assignment to it stands.
    pub ends: Ends,
    root: Ident,
    steps: Vec<String>,
}

impl Place {
    /// The place that an assignment to this expression changes; an element of an array changes the array.
    pub fn of(expr: &Expr, ends: Ends) -> Option<Place> {
        match expr {
            Expr::Path(path) => {
                let root = path.path.get_ident()?.clone();
                Some(Place { expr: expr.clone(), ends, root, steps: Vec::new() })
            }
            Expr::Field(field) if !has_index(&field.base) => {
                let name = match &field.member {
                    Member::Named(name) => name.to_string(),
                    Member::Unnamed(index) => index.index.to_string(),
                };
                Self::of(&field.base, ends)?.step(expr, name)
            }
            Expr::Field(field) => Self::of(&field.base, ends),
            Expr::Index(index) => Self::of(&index.expr, ends),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                Self::of(&unary.expr, ends)?.step(expr, "*".into())
            }
            Expr::Paren(paren) => Self::of(&paren.expr, ends),
            Expr::Group(group) => Self::of(&group.expr, ends),
            _ => None,
        }
    }

    fn step(mut self, expr: &Expr, step: String) -> Option<Place> {
        self.steps.push(step);
        self.expr = expr.clone();
        Some(self)
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.expr.to_token_stream().to_string().replace(' ', "")
    }

    fn contains(&self, other: &Place) -> bool {
        self.root == other.root && other.steps.starts_with(&self.steps)
    }
}

fn has_index(expr: &Expr) -> bool {
    match expr {
        Expr::Index(_) => true,
        Expr::Field(field) => has_index(&field.base),
        Expr::Paren(paren) => has_index(&paren.expr),
        _ => false,
    }
}

/// What is wrong with an assignment.
pub enum BadAssignment {
    /// A run-time value for a comptime variable.
    StartsComptime,
    /// A comptime variable of outside changes in run-time control flow, named here.
    ChangesAtRunTime(&'static str),
}

/// The names in scope and the frames around the current statement.
#[derive(Default)]
pub struct Scopes {
    bindings: Vec<Binding>,
    starts: Vec<usize>,
    frames: Vec<Frame>,
}

impl Scopes {
    /// Opens a block.
    pub fn push(&mut self) {
        self.starts.push(self.bindings.len());
    }

    /// Closes the innermost block.
    pub fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.bindings.truncate(start);
        }
    }

    /// Declares a name; `None` where its first assignment will tell the stage.
    pub fn bind(&mut self, name: &Ident, stage: Option<Stage>, number: Number) {
        let depth = self.run_time_frames().count();
        self.bindings.push(Binding { name: name.to_string(), stage, number, depth });
    }

    /// The stage and number of a name; names that are no locals are comptime.
    pub fn look_up(&self, name: &Ident) -> (Stage, Number) {
        self.find(name).map_or((Stage::Comptime, Number::Unknown), |at| {
            let binding = &self.bindings[at];
            (binding.stage.unwrap_or(Stage::Comptime), binding.number)
        })
    }

    fn find(&self, name: &Ident) -> Option<usize> {
        self.bindings.iter().rposition(|binding| *name == binding.name)
    }

    /// Records an assignment of a value of this stage.
    pub fn assign(&mut self, place: &Place, value: Stage) -> Result<(), BadAssignment> {
        let Some(at) = self.find(&place.root) else { return Ok(()) };
        let depth = self.bindings[at].depth;
        match (*self.bindings[at].stage.get_or_insert(value), value) {
            (Stage::RunTime, _) => {
                self.carry(place, depth);
                Ok(())
            }
            (Stage::Comptime, Stage::RunTime) => Err(BadAssignment::StartsComptime),
            (Stage::Comptime, Stage::Comptime) => match self.run_time_frames().nth(depth) {
                Some(control) => Err(BadAssignment::ChangesAtRunTime(control)),
                None => Ok(()),
            },
        }
    }

    /// Adds a place to every run-time frame inside its declaration.
    fn carry(&mut self, place: &Place, depth: usize) {
        let lists = self.frames.iter_mut().filter_map(|frame| match frame {
            Frame::RunTime { carried, .. } => Some(carried),
            Frame::Unrolled { .. } | Frame::Function { .. } => None,
        });
        for carried in lists.skip(depth) {
            match carried.iter_mut().find(|other| other.contains(place)) {
                Some(whole) => whole.ends = place.ends,
                None => {
                    carried.retain(|other| !place.contains(other));
                    carried.push(place.clone());
                }
            }
        }
    }

    fn run_time_frames(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.frames.iter().filter_map(|frame| match frame {
            Frame::RunTime { control, .. } => Some(*control),
            Frame::Unrolled { .. } | Frame::Function { .. } => None,
        })
    }

    /// Enters a loop that runs while tracing.
    pub fn enter_unrolled(&mut self, label: Option<&Lifetime>) {
        self.frames.push(Frame::Unrolled { label: label.map(ToString::to_string) });
    }

    /// Enters a function that is traced where it stands.
    pub fn enter_function(&mut self, of: &'static str) {
        self.frames.push(Frame::Function { of });
    }

    /// Enters a loop or branch of the kernel.
    pub fn enter_run_time(&mut self, control: &'static str) {
        self.frames.push(Frame::RunTime { control, carried: Vec::new() });
    }

    /// Leaves the innermost frame; gives the places that it carries, in the order of first assignment.
    pub fn leave(&mut self) -> Vec<Place> {
        match self.frames.pop() {
            Some(Frame::RunTime { carried, .. }) => carried,
            _ => Vec::new(),
        }
    }

    /// The run-time construct that a `break` or `continue` would leave, if there is one.
    pub fn jumps_out_of(&self, label: Option<&Lifetime>) -> Option<&'static str> {
        let target = label.map(ToString::to_string);
        for frame in self.frames.iter().rev() {
            match frame {
                Frame::RunTime { control, .. } => return Some(control),
                Frame::Function { of } => return Some(of),
                Frame::Unrolled { label } if target.is_none() || *label == target => return None,
                Frame::Unrolled { .. } => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use quote::format_ident;

    use super::*;

    fn assign(scopes: &mut Scopes, place: &str, value: Stage) -> Result<(), BadAssignment> {
        let expr: Expr = syn::parse_str(place).expect("a test is Rust");
        let place = Place::of(&expr, Ends::of(&expr)).expect("a place");
        scopes.assign(&place, value)
    }

    fn run_time(scopes: &mut Scopes, name: &str) {
        scopes.bind(&format_ident!("{name}"), Some(Stage::RunTime), Number::Unknown);
    }

    fn leave(scopes: &mut Scopes) -> Vec<String> {
        scopes.leave().iter().map(Place::name).collect()
    }

    #[test]
    fn a_whole_variable_stands_for_its_fields() {
        let mut scopes = Scopes::default();
        run_time(&mut scopes, "state");
        run_time(&mut scopes, "tiles");
        scopes.enter_run_time("loop");
        for place in ["state.max", "state.sum.0", "tiles[1]", "tiles[2].x"] {
            assert!(assign(&mut scopes, place, Stage::RunTime).is_ok());
        }
        scopes.enter_run_time("loop");
        assert!(assign(&mut scopes, "state.sum", Stage::RunTime).is_ok());
        assert_eq!(leave(&mut scopes), ["state.sum"]);
        assert_eq!(leave(&mut scopes), ["state.max", "tiles", "state.sum"]);
    }

    #[test]
    fn a_shadow_is_not_carried() {
        let mut scopes = Scopes::default();
        run_time(&mut scopes, "x");
        scopes.enter_run_time("loop");
        scopes.push();
        run_time(&mut scopes, "x");
        assert!(assign(&mut scopes, "x", Stage::RunTime).is_ok());
        scopes.pop();
        assert!(leave(&mut scopes).is_empty());
    }

    #[test]
    fn the_first_assignment_decides_a_stage() {
        let mut scopes = Scopes::default();
        let name = format_ident!("x");
        scopes.bind(&name, None, Number::Unknown);
        assert!(assign(&mut scopes, "x", Stage::RunTime).is_ok());
        assert!(scopes.look_up(&name).0 == Stage::RunTime);
        scopes.bind(&name, Some(Stage::Comptime), Number::Unknown);
        assert!(matches!(assign(&mut scopes, "x", Stage::RunTime), Err(BadAssignment::StartsComptime)));
        scopes.enter_run_time("loop");
        assert!(matches!(assign(&mut scopes, "x", Stage::Comptime), Err(BadAssignment::ChangesAtRunTime("loop"))));
    }

    #[test]
    fn a_jump_stops_at_its_loop() {
        let mut scopes = Scopes::default();
        let outer: Lifetime = syn::parse_quote!('outer);
        scopes.enter_unrolled(Some(&outer));
        scopes.enter_run_time("loop");
        assert_eq!(scopes.jumps_out_of(None), Some("loop"));
        scopes.enter_unrolled(None);
        assert_eq!(scopes.jumps_out_of(None), None);
        assert_eq!(scopes.jumps_out_of(Some(&outer)), Some("loop"));
    }
}
