//! The graph of implications as DOT, as SVG, and as lists.

use super::graph::{Graph, Node};
use std::fmt::Write;

/// The style of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The node for all that must be uniform.
    Must,
    /// The node for all that cannot be uniform.
    Cannot,
    /// Control flow.
    Control,
    /// A value.
    Value,
}

/// A graph for drawing: the nodes that must be uniform, and all that they imply.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The nodes with their texts. Those that must be uniform come first.
    pub nodes: Vec<(Kind, String)>,
    /// The edges: source, target, and the name of the rule.
    pub edges: Vec<(u32, u32, &'static str)>,
}

/// The greatest number of nodes of an SVG.
pub const MAX_DRAWN: usize = 400;
/// The greatest number of characters of a node's text in an SVG.
const MAX_TEXT: usize = 28;
/// The width and height of a node in an SVG, with the space around it, in pixels.
const CELL: (usize, usize) = (220, 70);

impl Picture {
    /// The graph of all that these nodes imply, in one step or more.
    pub fn of<L>(graph: &Graph<L>, from: &[Node], node: impl Fn(&L) -> (Kind, String)) -> Picture {
        let reached = graph.reach(from, None);
        let mut number = vec![u32::MAX; graph.nodes()];
        let mut picture = Picture::default();
        let others = (0..graph.nodes() as u32).map(Node).filter(|n| !from.contains(n) && reached.has(*n));
        let shown: Vec<Node> = from.iter().copied().chain(others).collect();
        for (at, shown) in shown.iter().enumerate() {
            number[shown.0 as usize] = at as u32;
            picture.nodes.push(node(graph.label(*shown)));
        }
        for shown in shown {
            let mut edges: Vec<_> =
                graph.implied(shown).map(|(to, rule)| (number[shown.0 as usize], number[to.0 as usize], rule.name())).collect();
            edges.reverse();
            edges.dedup();
            picture.edges.extend(edges);
        }
        picture
    }

    /// The graph as DOT, for Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph uniformity {\n  node [shape=box, fontname=\"sans-serif\"];\n");
        for (at, (kind, text)) in self.nodes.iter().enumerate() {
            let style = match kind {
                Kind::Must => ", style=filled, fillcolor=\"#cfe8cf\"",
                Kind::Cannot => ", style=filled, fillcolor=\"#f4c7c3\"",
                Kind::Control => ", shape=diamond",
                Kind::Value => "",
            };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
            let _ = writeln!(out, "  n{at} [label=\"{text}\"{style}];");
        }
        for (from, to, rule) in &self.edges {
            let _ = writeln!(out, "  n{from} -> n{to} [tooltip=\"{rule}\"];");
        }
        out + "}\n"
    }

    /// By node: the least number of edges from a node that must be uniform.
    fn layers(&self) -> Vec<usize> {
        let mut to: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (from, next, _) in &self.edges {
            to[*from as usize].push(*next as usize);
        }
        let mut layer = vec![usize::MAX; self.nodes.len()];
        let mut queue = std::collections::VecDeque::new();
        for (at, _) in self.nodes.iter().enumerate().filter(|(_, (kind, _))| *kind == Kind::Must) {
            layer[at] = 0;
            queue.push_back(at);
        }
        while let Some(at) = queue.pop_front() {
            for &next in &to[at] {
                if layer[next] == usize::MAX {
                    layer[next] = layer[at] + 1;
                    queue.push_back(next);
                }
            }
        }
        layer.into_iter().map(|l| if l == usize::MAX { 0 } else { l }).collect()
    }

    /// The graph as SVG. `None` if there are more than [`MAX_DRAWN`] nodes.
    pub fn svg(&self) -> Option<String> {
        if self.nodes.len() > MAX_DRAWN {
            return None;
        }
        let layers = self.layers();
        let mut used = vec![0usize; layers.iter().max().map_or(0, |l| l + 1)];
        let mut places = Vec::with_capacity(self.nodes.len());
        for &layer in &layers {
            places.push((used[layer] * CELL.0 + CELL.0 / 2, layer * CELL.1 + CELL.1 / 2));
            used[layer] += 1;
        }
        let (width, height) = (used.iter().max().unwrap_or(&1) * CELL.0, used.len().max(1) * CELL.1);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <defs><marker id=\"a\" viewBox=\"0 0 10 10\" refX=\"10\" refY=\"5\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">\
             <path d=\"M0 0L10 5L0 10z\"/></marker></defs>\n"
        );
        for (from, to, rule) in &self.edges {
            let ((x1, y1), (x2, y2)) = (places[*from as usize], places[*to as usize]);
            let (y1, y2) = if y2 > y1 { (y1 + 16, y2 - 16) } else { (y1 - 16, y2 + 16) };
            let _ = writeln!(
                out,
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#555\" marker-end=\"url(#a)\"><title>{rule}</title></line>"
            );
        }
        for ((kind, text), (x, y)) in self.nodes.iter().zip(places) {
            let fill = match kind {
                Kind::Must => "#cfe8cf",
                Kind::Cannot => "#f4c7c3",
                Kind::Control => "#dfe7f5",
                Kind::Value => "#ffffff",
            };
            let whole = escaped(text);
            let short: String = text.chars().take(MAX_TEXT).collect();
            let short = if short.len() < text.len() { format!("{}…", escaped(&short)) } else { escaped(&short) };
            let _ = writeln!(
                out,
                "<g><title>{whole}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"32\" rx=\"4\" fill=\"{fill}\" stroke=\"#333\"/>\
                 <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{short}</text></g>",
                x - CELL.0 / 2 + 8,
                y - 16,
                CELL.0 - 16,
                y + 4
            );
        }
        Some(out + "</svg>\n")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
