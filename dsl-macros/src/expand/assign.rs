//! Assignments and references: what changes a variable.
//!
//! Assigning is plain Rust. What has to be known is *which* variables change, because a run-time loop carries them and a
//! run-time branch merges them, and that a comptime variable never gets a run-time value.

use syn::{Expr, ExprAssign, ExprIndex, ExprReference};

use super::body::{Body, Info};
use crate::binding::{BadAssignment, Number, Place, Stage};
use crate::errors;
use crate::spans::Ends;

impl Body {
    pub fn assign(&mut self, assign: &mut ExprAssign) -> Info {
        let ends = Ends::of(assign);
        let value = self.expr(&mut assign.right);
        let target = self.target(&mut assign.left, value.stage, ends);
        Info { traced: value.traced || target.traced, ..Info::COMPTIME }
    }

    /// The left side of an assignment, which may take a tuple or an array apart.
    fn target(&mut self, target: &mut Expr, value: Stage, ends: Ends) -> Info {
        match target {
            Expr::Tuple(tuple) => self.targets(tuple.elems.iter_mut(), value, ends),
            Expr::Array(array) => self.targets(array.elems.iter_mut(), value, ends),
            Expr::Struct(literal) => self.targets(literal.fields.iter_mut().map(|field| &mut field.expr), value, ends),
            Expr::Call(call) => self.targets(call.args.iter_mut(), value, ends),
            Expr::Infer(_) | Expr::Range(_) => Info::COMPTIME,
            _ => {
                self.assigned(target, value, ends);
                self.expr(target)
            }
        }
    }

    fn targets<'a>(&mut self, targets: impl Iterator<Item = &'a mut Expr>, value: Stage, ends: Ends) -> Info {
        targets.fold(Info::COMPTIME, |whole, target| whole.join(self.target(target, value, ends)))
    }

    /// Records that a place gets a value of a stage in the statement that stands there.
    pub fn assigned(&mut self, place: &Expr, value: Stage, ends: Ends) {
        let Some(place) = Place::of(place, ends) else { return };
        match self.scopes.assign(&place, value) {
            Ok(()) => {}
            Err(BadAssignment::StartsComptime) => self.errors.at(&place.expr, errors::starts_comptime(&place.name())),
            Err(BadAssignment::ChangesAtRunTime(control)) => {
                self.errors.at(&place.expr, errors::changes_at_run_time(&place.name(), control));
            }
        }
    }

    pub fn index(&mut self, index: &mut ExprIndex) -> Info {
        let base = self.base(&mut index.expr);
        let source = index.index.clone();
        let at = self.expr(&mut index.index);
        if at.is_run_time() {
            self.errors.at(&source, errors::INDEX);
        }
        Info { traced: base.traced || at.traced, ..base }
    }

    /// `&x` is plain; through `&mut x` the variable changes.
    pub fn reference(&mut self, reference: &mut ExprReference) -> Info {
        let ends = Ends::of(reference);
        let place = reference.expr.clone();
        let info = self.expr(&mut reference.expr);
        if reference.mutability.is_some() {
            self.assigned(&place, info.stage, ends);
        }
        Info { number: Number::Unknown, ..info }
    }
}
