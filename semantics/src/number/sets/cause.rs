//! The reason why a run over sets says nothing of a component: the first execution of an
//! instruction that has no bound, or that may come out either way.

use super::Set;
use crate::number::{Instruction, Op};
use smallvec::SmallVec;
use std::fmt;

/// An execution of an instruction, with the sets of its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Its place, as the engine counts places ([`Sets::stand_at`](super::Sets::stand_at)).
    pub place: u32,
    /// The instruction. `None` at a branch on a Boolean that comes from no comparison.
    pub instruction: Option<Instruction>,
    /// The sets of its operands. The components of vectors follow one another.
    pub operands: SmallVec<[Set; 4]>,
}

/// A place, as an engine describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The position, such as `7:3` or `%12`.
    pub at: String,
    /// The name of the operation there, if it is not the instruction's own.
    pub operation: Option<String>,
    /// The expression that has this value.
    pub expression: Option<String>,
}

impl Site {
    /// A place of which only the position is known.
    pub fn at(at: impl Into<String>) -> Site {
        Site { at: at.into(), ..Site::default() }
    }
}

/// The most operands that a sentence names.
const MOST_NAMED: usize = 4;

impl Cause {
    /// A phrase such as `less-than of [0.49, 0.51] and 0.5`, followed by the expression that has
    /// this value if `site` has it.
    pub fn text<'a>(&'a self, site: &'a Site) -> impl fmt::Display + 'a {
        Sentence { cause: self, site }
    }
}

struct Sentence<'a> {
    cause: &'a Cause,
    site: &'a Site,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cause { instruction, operands, .. } = self.cause;
        match (&self.site.operation, instruction) {
            (_, None) => f.write_str("a Boolean that may be either")?,
            (Some(operation), _) => f.write_str(operation)?,
            (None, Some(instruction)) => write!(f, "{instruction}")?,
        }
        for (i, set) in operands.iter().take(MOST_NAMED).enumerate() {
            let and = match i {
                0 => " of ",
                _ if i + 1 == operands.len() => " and ",
                _ => ", ",
            };
            write!(f, "{and}{set}")?;
        }
        if operands.len() > MOST_NAMED {
            f.write_str(", …")?;
        }
        match &self.site.expression {
            Some(expression) => write!(f, " in {expression}"),
            None => Ok(()),
        }
    }
}

/// The name in modules: `OpFAdd`, `GLSL.std.450 Sin`.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use rspirv::spirv;
        match *self {
            Instruction::Core(opcode) => match spirv::Op::from_u32(opcode.into()) {
                Some(op) => write!(f, "Op{op:?}"),
                None => write!(f, "opcode {opcode}"),
            },
            Instruction::Glsl(number) => match Op::of_glsl(number) {
                Some(op) => write!(f, "GLSL.std.450 {}", op.name()),
                None => match spirv::GlslStd450Op::from_u32(number) {
                    Some(op) => write!(f, "GLSL.std.450 {op:?}"),
                    None => write!(f, "GLSL.std.450 instruction {number}"),
                },
            },
        }
    }
}
