//! How each instruction of the grammar is handled. The information comes from the engines' own
//! tables, and is not written down again.
//!
//! This is about opcodes. Even if an opcode stands in a rule's row, an instruction may be refused
//! for its types or operands.

use rspirv::spirv::Op;

use crate::number::Instruction;
use crate::rule::Rule;
use crate::spirv::{declare, grammar, lockstep, operation, specialize, step};

/// How the instructions of an opcode are handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// These rules of the relation may apply to them.
    Executed(Vec<Rule>),
    /// Loading reads them. They are not steps.
    Declared,
    /// [`crate::spirv::specialize()`] turns them into constants before loading.
    Specialized,
    /// They are refused by name before anything runs.
    Refused,
}

/// An instruction of the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// The opcode, or the number in GLSL.std.450.
    pub instruction: Instruction,
    /// Its name: `OpIAdd`, or `SMin` in GLSL.std.450.
    pub name: String,
    /// The section of its specification: `SPIR-V §3.3.13`, or `GLSL.std.450`. `None` for some
    /// refused instructions.
    pub section: Option<&'static str>,
    /// How it is handled.
    pub standing: Treatment,
    /// Whether the lockstep machine compiles it.
    pub lockstep: bool,
}

/// Every core instruction of the grammar, by opcode. Then every instruction of GLSL.std.450,
/// by number.
pub fn all() -> Vec<Opcode> {
    let core = grammar::instructions().map(|i| Opcode {
        instruction: Instruction::Core(i.opcode as u16),
        name: format!("Op{}", i.opname),
        section: section(i.opcode),
        standing: standing(i.opcode),
        lockstep: lockstep::compiles(i.opcode),
    });
    let set = grammar::set("GLSL.std.450").into_iter().flat_map(grammar::Set::instructions);
    let extended = set.map(|(number, i)| {
        let operation = operation::glsl(number);
        Opcode {
            instruction: Instruction::Glsl(number),
            name: i.opname.to_string(),
            section: Some("GLSL.std.450"),
            standing: operation.map_or(Treatment::Refused, |operation| Treatment::Executed(vec![step::compute::extended_rule(operation)])),
            // The machine refuses a number of the set exactly if it is not in the table
            // of operations.
            lockstep: operation.is_some(),
        }
    });
    core.chain(extended).collect()
}

fn standing(op: Op) -> Treatment {
    let rules: Vec<Rule> = step::Rules::standard().about(op).map(|(rule, _)| rule).collect();
    if !rules.is_empty() {
        Treatment::Executed(rules)
    } else if specialize::is_spec_constant(op) {
        Treatment::Specialized
    } else if declare::section(op).is_some() || declare::is_structure(op) {
        Treatment::Declared
    } else {
        Treatment::Refused
    }
}

/// The section of SPIR-V that defines the instruction. Opcodes are numbered section by section,
/// except for a few later ones. `None` for sections without modeled instructions.
fn section(op: Op) -> Option<&'static str> {
    Some(match op as u32 {
        0 | 1 => "SPIR-V §3.3.1",
        2..=8 | 317 | 330 => "SPIR-V §3.3.2",
        71..=76 | 332 | 5632 | 5633 => "SPIR-V §3.3.3",
        10..=12 => "SPIR-V §3.3.4",
        14..=17 | 331 => "SPIR-V §3.3.5",
        19..=39 => "SPIR-V §3.3.6",
        41..=52 => "SPIR-V §3.3.7",
        59..=70 | 401..=403 => "SPIR-V §3.3.8",
        54..=57 => "SPIR-V §3.3.9",
        86..=107 => "SPIR-V §3.3.10",
        109..=124 => "SPIR-V §3.3.11",
        77..=84 | 400 => "SPIR-V §3.3.12",
        126..=152 | 4450..=4455 => "SPIR-V §3.3.13",
        194..=205 => "SPIR-V §3.3.14",
        154..=191 => "SPIR-V §3.3.15",
        207..=215 => "SPIR-V §3.3.16",
        245..=257 | 4416 | 5380 => "SPIR-V §3.3.17",
        227..=242 => "SPIR-V §3.3.18",
        224 | 225 => "SPIR-V §3.3.20",
        333..=366 => "SPIR-V §3.3.24",
        5381 => "SPV_EXT_demote_to_helper_invocation",
        _ => return None,
    })
}
