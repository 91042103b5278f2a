//! The graph of a function, to be drawn.

use super::{Cx, Known, Settings, What, entry_point, function};
use crate::rule::Rule;
use crate::text::line_column;
use crate::uniformity::picture::{Kind, Picture};
use crate::uniformity::report::alone;
use crate::wsl::environment::FunctionId;
use crate::wsl::typing::program::Program;

/// The graph of a function: what must be uniform, and all that must be uniform for that. `text` is
/// the program's.
pub fn picture(program: &Program, text: &str, of: FunctionId) -> Picture {
    let (settings, alone) = (Settings::default(), alone(program));
    let mut known: Vec<Known> = vec![Known::default(); program.bodies.len()];
    let mut fired = vec![false; Rule::ALL.len()];
    for &f in &program.order {
        let mut cx = Cx::new(program, &settings, &known, &mut fired, f);
        if let Some(entry) = program.entry_points.iter().position(|e| e.function == f) {
            entry_point(&mut cx, entry);
        }
        cx.body(program.body(f).block);
        if f == of {
            return Picture::of(&cx.graph, &cx.must, |label| {
                let source = text.get(label.span.start as usize..label.span.end as usize).unwrap_or("");
                let line = line_column(text, label.span.start).0;
                let at = format!("{line}: {}", source.lines().next().unwrap_or("").trim());
                match label.what {
                    What::Must => (Kind::Must, "must be uniform".into()),
                    What::Cannot => (Kind::Cannot, "cannot be uniform".into()),
                    What::Start => (Kind::Control, "the call".into()),
                    What::Site(need, _) => (Kind::Control, format!("{} {at}", need.noun())),
                    What::Branch | What::Behind | What::Loop | What::Case | What::Came(_) => (Kind::Control, format!("control {at}")),
                    _ => (Kind::Value, at),
                }
            });
        }
        let (this, _) = function(&mut cx, alone[f.0 as usize]);
        known[f.0 as usize] = this;
    }
    Picture::default()
}
