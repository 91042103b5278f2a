//! The graph of a function, for drawing.

use super::{NodeMeaning, Settings, analyse_watched};
use crate::text::line_column;
use crate::uniformity::picture::{Kind, Picture};
use crate::wsl::environment::FunctionId;
use crate::wsl::typing::program::Program;

/// The graph of a function: the nodes that must be uniform, and all that they imply. `text` is the
/// program's text.
pub fn picture(program: &Program, text: &str, function: FunctionId) -> Picture {
    let mut picture = Picture::default();
    analyse_watched(program, &Settings::default(), &mut |cx| {
        if cx.function != function {
            return;
        }
        picture = Picture::of(&cx.graph, &cx.must, |label| {
            let kind = match label.meaning {
                NodeMeaning::Must(_) => Kind::Must,
                NodeMeaning::Cannot => Kind::Cannot,
                NodeMeaning::Start
                | NodeMeaning::Site(..)
                | NodeMeaning::Branch
                | NodeMeaning::AfterStatement
                | NodeMeaning::Loop
                | NodeMeaning::Case
                | NodeMeaning::AfterCall(_) => Kind::Control,
                _ => Kind::Value,
            };
            let source = text.get(label.span.start as usize..label.span.end as usize).unwrap_or("");
            let line = line_column(text, label.span.start).0;
            let says = match kind {
                Kind::Must | Kind::Cannot => cx.describe(label.meaning),
                Kind::Control | Kind::Value => {
                    format!("{line}: {}: {}", source.lines().next().unwrap_or("").trim(), cx.describe(label.meaning))
                }
            };
            (kind, says)
        });
    });
    picture
}
