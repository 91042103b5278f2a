//! Why a run over sets says nothing of a component: the first execution of an instruction that has
//! no bound, or that may come out either way.

use super::Set;
use crate::number::{Instruction, Op};
use smallvec::SmallVec;
use std::fmt;

/// An execution of an instruction and what its operands may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Where it stands, as the engine counts places ([`Sets::stand_at`](super::Sets::stand_at)).
    pub place: u32,
    /// The instruction; none at a branch on a Boolean that comes from no comparison.
    pub instruction: Option<Instruction>,
    /// Its operands, vectors' components one after the other.
    pub operands: SmallVec<[Set; 4]>,
}

/// What an engine knows of a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Where it stands, as `7:3` or `%12`.
    pub at: String,
    /// What the instruction is called there, if not by its own name.
    pub operation: Option<String>,
    /// The expression that it is the value of.
    pub expression: Option<String>,
}

impl Site {
    /// A place of which nothing more is known.
    pub fn at(at: impl Into<String>) -> Site {
        Site { at: at.into(), ..Site::default() }
    }
}

/// The most operands that a sentence names.
const MOST_NAMED: usize = 4;

impl Cause {
    /// `less-than of [0.49, 0.51] and 0.5`, followed by the expression that it is the value of, if
    /// `site` knows that.
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

/// As modules name it: `OpFAdd`, `GLSL.std.450 Sin`.
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
