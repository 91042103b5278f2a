//! Explanations of a rejection: the path from a barrier or derivative to a value that differs.

use super::{Cx, Differs, Label, NodeMeaning, Origin, Requirement};
use crate::text::Span;
use crate::uniformity::graph::{Graph, Node};
use crate::uniformity::report::{Rejection, Step};
use crate::uniformity::table::Need;
use crate::wsl::environment::{FunctionId, Semantic};
use crate::wsl::syntax::AddressSpace;

/// The greatest number of explained rejections of one function.
const MAX_REJECTIONS: usize = 16;
/// The greatest number of calls that an explanation names on the path to a barrier or derivative.
const MAX_CALLS: usize = 64;

impl Cx<'_> {
    /// The sites of the function that reach `cannot`, each with the shortest path.
    pub(super) fn rejections(&self, need: Need) -> Vec<Rejection> {
        let mut backwards: Graph<()> = Graph::default();
        (0..self.graph.nodes()).for_each(|_| _ = backwards.node(()));
        for from in (0..self.graph.nodes() as u32).map(Node) {
            self.graph.implied(from).for_each(|(to, rule)| backwards.imply(to, from, rule));
        }
        let reached = backwards.reach(&[self.cannot], None);
        let mut sites: Vec<Node> = self.graph.implied(self.must[need as usize]).map(|(site, _)| site).filter(|s| reached.has(*s)).collect();
        sites.reverse();
        sites.truncate(MAX_REJECTIONS);
        let rejection = |site: Node| {
            let mut hops = backwards.path(&reached, site);
            hops.reverse();
            let Label { meaning, span } = *self.graph.label(site);
            let of = if let NodeMeaning::Site(_, of) = meaning { of } else { None };
            let (barrier, mut steps) = self.calls(need, Origin { span, of });
            let path = hops.iter().skip(1).filter(|hop| hop.node != self.cannot);
            steps.extend(path.map(|hop| {
                let Label { meaning, span } = *self.graph.label(hop.node);
                Step { span, rule: hop.rule, text: self.describe(meaning) }
            }));
            Rejection { function: self.function, need, span: barrier, steps }
        };
        sites.into_iter().map(rejection).collect()
    }

    /// The place of the barrier or derivative, and the calls through which control flow reaches it,
    /// innermost first.
    fn calls(&self, need: Need, origin: Origin) -> (Span, Vec<Step>) {
        let mut path = vec![origin];
        let mut at = origin;
        while let Some((f, requirement)) = at.of {
            let known = &self.known[f.0 as usize];
            let next = match requirement {
                Requirement::Control => known.control,
                Requirement::Argument(i) => known.parameters[i as usize],
            };
            let Some(next) = next else { break };
            path.push(next);
            at = next;
        }
        let text = format!("this {} needs control flow that is uniform in the {}", need.noun(), need.scope());
        let mut steps = vec![Step { span: at.span, rule: None, text }];
        for origin in path.iter().rev().skip(1).take(MAX_CALLS) {
            let Some((f, requirement)) = origin.of else { continue };
            let name = self.name(f);
            let text = match requirement {
                Requirement::Control => format!("it is reached by this call of `{name}`"),
                Requirement::Argument(i) => {
                    let parameter = self.program.env.function(f).parameters.get(i as usize);
                    let parameter = parameter.map_or("", |p| self.program.env.names.name(p.name));
                    format!("whether it is reached depends on what this call gives for `{parameter}` of `{name}`")
                }
            };
            steps.push(Step { span: origin.span, rule: None, text });
        }
        (at.span, steps)
    }

    fn name(&self, f: FunctionId) -> String {
        let env = &self.program.env;
        env.key_name(env.function(f).key)
    }

    pub(super) fn describe(&self, meaning: NodeMeaning) -> String {
        let program = self.program;
        let names = &program.env.names;
        let parameter = |i: u32| names.name(program.env.function(self.function).parameters[i as usize].name);
        match meaning {
            NodeMeaning::Must(need) => format!("what must be uniform in the {} for each {}", need.scope(), need.noun()),
            NodeMeaning::Cannot => "what differs between invocations".into(),
            NodeMeaning::Site(need, _) => format!("this {} or call of what has one", need.noun()),
            NodeMeaning::Start => format!("control flow at the beginning of `{}`", self.name(self.function)),
            NodeMeaning::Parameter(i) => format!("the parameter `{}`", parameter(i)),
            NodeMeaning::Variable(Some(name)) => format!("the variable `{}`", names.name(name)),
            NodeMeaning::Variable(None) => "this variable".into(),
            NodeMeaning::Branch => "control flow that this condition decides".into(),
            NodeMeaning::AfterStatement => "control flow behind this statement".into(),
            NodeMeaning::Loop => "control flow in this loop".into(),
            NodeMeaning::Case => "control flow in this case".into(),
            NodeMeaning::AfterCall(f) => format!("control flow behind this call of `{}`, which may discard", self.name(f)),
            NodeMeaning::Value => "this value".into(),
            NodeMeaning::Result(f) => format!("what `{}` returns", self.name(f)),
            NodeMeaning::Returned => "what is returned here".into(),
            NodeMeaning::Loaded(reason) => self.describe_difference(reason),
        }
    }

    fn describe_difference(&self, reason: Differs) -> String {
        match reason {
            Differs::Space(AddressSpace::Threadgroup) => "other invocations may store to threadgroup memory".into(),
            Differs::Space(space) => format!("other invocations may store to {} memory", space.keyword()),
            Differs::Pointer => "what stands behind a pointer may differ between invocations".into(),
            Differs::AddressTaken => "its address is taken here, so what it holds may differ between invocations".into(),
            Differs::Library => "other invocations may change what this reads".into(),
            Differs::Callee(f) => format!("what `{}` returns may differ between invocations", self.name(f)),
            Differs::Input(entry, i) => {
                let item = &self.program.entry_points[entry as usize].inputs[i as usize];
                let name = item.name.map_or("", |n| self.program.env.names.name(n));
                match item.semantic {
                    Some((Semantic::Builtin(semantic), _)) => {
                        format!("`{name}` is {}, which differs between invocations", semantic.keyword())
                    }
                    Some((Semantic::Attribute(n), _)) => format!("`{name}` is attribute({n}), which differs between invocations"),
                    _ => format!("`{name}` differs between invocations"),
                }
            }
        }
    }
}
