//! The features of a campaign's judged modules: instructions, types of images and built-ins, each
//! with the number of modules. The least number shows how well the campaign covers them.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::spirv::{BuiltIn, Decoration, Dim, Op};
use serde_json::{Value, json};
use smallstep_semantics::spirv::decode;

/// The number of the rarest features in a report's line.
const RAREST: usize = 8;

/// The number of modules with each feature, by the feature's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses(BTreeMap<String, u64>);

impl Uses {
    /// Counts the features of one dispatch or draw, which has one or two modules.
    pub(super) fn count(&mut self, of_one: &BTreeSet<String>) {
        for name in of_one {
            *self.0.entry(name.clone()).or_default() += 1;
        }
    }

    /// The numbers by name.
    pub fn to_json(&self) -> Value {
        json!(self.0)
    }

    /// The number of features and the rarest ones, in one line. `None` if there are none.
    pub fn rarest(&self) -> Option<String> {
        let mut all: Vec<(&String, &u64)> = self.0.iter().collect();
        all.sort_by_key(|&(name, count)| (count, name));
        let rarest: Vec<String> = all.iter().take(RAREST).map(|(name, count)| format!("{name} {count}")).collect();
        (!all.is_empty()).then(|| format!("{} instructions, types of images and built-ins, the rarest: {}", all.len(), rarest.join(", ")))
    }
}

/// The features of a module. Empty if the words are no module.
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

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::{Options, assemble};

    #[test]
    fn what_a_module_uses_is_named_and_counted_once() {
        let text = "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n\
            OpEntryPoint Fragment %main \"main\" %at\nOpExecutionMode %main OriginUpperLeft\nOpDecorate %at BuiltIn FragCoord\n\
            %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
            %image = OpTypeImage %float 2D 1 1 0 1 Unknown\n%stored = OpTypeImage %float 3D 0 0 0 2 R32f\n\
            %to = OpTypePointer Input %v4\n%at = OpVariable %to Input\n%main = OpFunction %void None %fn\n%l = OpLabel\n\
            %x = OpLoad %v4 %at\n%y = OpExtInst %v4 %glsl Sqrt %x\n%z = OpExtInst %v4 %glsl Sqrt %y\nOpReturn\nOpFunctionEnd\n";
        let words = assemble(text, Options::default()).expect("assembles");
        let used = of(&words);
        let named = |name: &str| used.contains(name);
        assert!(
            ["Sqrt", "OpLoad", "BuiltIn FragCoord", "sampled image 2D array depth", "storage image 3D"].into_iter().all(named),
            "{used:?}"
        );
        assert!(!named("OpTypeFloat") && !named("OpDecorate"), "{used:?}");
        let mut uses = Uses::default();
        assert_eq!(uses.rarest(), None);
        uses.count(&used);
        uses.count(&["Sqrt".to_string()].into());
        assert_eq!(uses.to_json()["Sqrt"], json!(2));
        let line = uses.rarest().expect("something is used");
        assert!(line.starts_with(&format!("{} instructions", used.len())) && line.contains("BuiltIn FragCoord 1, "), "{line}");
        assert_eq!(of(&words[..3]), BTreeSet::new());
    }
}
