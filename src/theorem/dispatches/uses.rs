//! What the judged modules of a campaign use: instructions, types of images and built-ins, each
//! with the number of modules. The least number says how well the campaign covers.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::spirv::{BuiltIn, Decoration, Dim, Op};
use serde_json::{Value, json};
use smallstep_semantics::spirv::decode;

/// So many of the rarest are in a line.
const RAREST: usize = 8;

/// How many modules use something, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses(BTreeMap<String, u64>);

impl Uses {
    /// Counts one dispatch or draw, which has one module or two.
    pub(super) fn count(&mut self, of_one: &BTreeSet<String>) {
        for name in of_one {
            *self.0.entry(name.clone()).or_default() += 1;
        }
    }

    /// How many there are, by name.
    pub fn to_json(&self) -> Value {
        json!(self.0)
    }

    /// How many things are used, and the rarest, in one line; none if nothing is.
    pub fn rarest(&self) -> Option<String> {
        let mut all: Vec<(&String, &u64)> = self.0.iter().collect();
        all.sort_by_key(|&(name, count)| (count, name));
        let rarest: Vec<String> = all.iter().take(RAREST).map(|(name, count)| format!("{name} {count}")).collect();
        (!all.is_empty()).then(|| format!("{} instructions, types of images and built-ins, the rarest: {}", all.len(), rarest.join(", ")))
    }
}

/// What a module uses. Of words that are no module it is nothing.
pub(super) fn of(words: &[u32]) -> BTreeSet<String> {
    let Ok(decoded) = decode(words) else { return BTreeSet::new() };
    let mut names = BTreeSet::new();
    let mut is_inside = false;
    for instruction in &decoded.instructions {
        let operands = instruction.operands(words);
        match (instruction.op, operands) {
            (Op::Function, _) => is_inside = true,
            (Op::ExtInst, &[set, number, ..]) => {
                let known = decoded.set(set).and_then(|set| set.by_number(number));
                names.extend(known.map(|instruction| instruction.opname.to_string()));
            }
            (Op::TypeImage, &[_, dim, depth, arrayed, several, sampled, ..]) => {
                let mut name = if sampled == 2 { "storage image".to_string() } else { "sampled image".to_string() };
                name.extend(Dim::from_u32(dim).map(|dim| format!(" {}", format!("{dim:?}").trim_start_matches("Dim"))));
                for (is, word) in [(arrayed, " array"), (several, " multisampled"), (depth, " depth")] {
                    name.push_str(if is == 1 { word } else { "" });
                }
                names.insert(name);
            }
            (Op::Decorate, &[_, decoration, value]) | (Op::MemberDecorate, &[_, _, decoration, value])
                if decoration == Decoration::BuiltIn as u32 =>
            {
                names.extend(BuiltIn::from_u32(value).map(|built_in| format!("BuiltIn {built_in:?}")));
            }
            _ if is_inside => _ = names.insert(instruction.name()),
            _ => {}
        }
    }
    names
}
