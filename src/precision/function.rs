//! The measured functions: the scalar functions of the mathematical reference's table, and some
//! functions of vectors.

use rspirv::spirv;
use smallstep_semantics::number::{Instruction, reference};

/// One instruction with operands of fixed shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// The instruction.
    pub instruction: Instruction,
    /// Its name in SPIR-V, without `Op`.
    pub instruction_name: &'static str,
    /// The number of components of each operand. 1 for a scalar.
    pub operands: Vec<usize>,
    /// The number of components of the result.
    pub results: usize,
}

/// A function of vectors. For vectors of n components, `shape` gives the components of each operand
/// and of the result. `sizes` are the values of n.
struct OfVectors {
    instruction: Instruction,
    name: &'static str,
    shape: fn(usize) -> (Vec<usize>, usize),
    sizes: &'static [usize],
}

const fn glsl(function: spirv::GlslStd450Op) -> Instruction {
    Instruction::Glsl(function as u32)
}

const fn core(op: spirv::Op) -> Instruction {
    Instruction::Core(op as u16)
}

const ALL_SIZES: &[usize] = &[2, 3, 4];

const OF_VECTORS: &[OfVectors] = {
    use spirv::GlslStd450Op as Glsl;
    use spirv::Op;
    &[
        OfVectors { instruction: core(Op::VectorTimesScalar), name: "VectorTimesScalar", shape: |n| (vec![n, 1], n), sizes: ALL_SIZES },
        OfVectors { instruction: core(Op::Dot), name: "Dot", shape: |n| (vec![n, n], 1), sizes: ALL_SIZES },
        OfVectors { instruction: glsl(Glsl::Length), name: "Length", shape: |n| (vec![n], 1), sizes: ALL_SIZES },
        OfVectors { instruction: glsl(Glsl::Distance), name: "Distance", shape: |n| (vec![n, n], 1), sizes: ALL_SIZES },
        OfVectors { instruction: glsl(Glsl::Cross), name: "Cross", shape: |n| (vec![n, n], n), sizes: &[3] },
        OfVectors { instruction: glsl(Glsl::Normalize), name: "Normalize", shape: |n| (vec![n], n), sizes: ALL_SIZES },
        OfVectors { instruction: glsl(Glsl::FaceForward), name: "FaceForward", shape: |n| (vec![n, n, n], n), sizes: ALL_SIZES },
        OfVectors { instruction: glsl(Glsl::Reflect), name: "Reflect", shape: |n| (vec![n, n], n), sizes: ALL_SIZES },
        OfVectors { instruction: glsl(Glsl::Refract), name: "Refract", shape: |n| (vec![n, n, 1], n), sizes: ALL_SIZES },
    ]
};

impl Function {
    /// All functions: those of scalars in the order of [`reference::FUNCTIONS`], then those
    /// of vectors.
    pub fn all() -> Vec<Function> {
        let scalars = reference::FUNCTIONS.iter().map(|&(instruction, name, arity)| Function {
            instruction,
            instruction_name: name,
            operands: vec![1; arity],
            results: 1,
        });
        let vectors = OF_VECTORS.iter().flat_map(|of| {
            of.sizes.iter().map(|&n| {
                let (operands, results) = (of.shape)(n);
                Function { instruction: of.instruction, instruction_name: of.name, operands, results }
            })
        });
        scalars.chain(vectors).collect()
    }

    /// The functions with that name, in upper or lower case, with or without `Op`. Examples are
    /// `sin`, `OpFAdd`, `dot` for vectors of every size, and `dot3` for one size.
    pub fn named(name: &str) -> Vec<Function> {
        let name = name.trim().to_lowercase();
        let mut all = Function::all();
        let bare = name.strip_prefix("op").unwrap_or(&name).to_owned();
        all.retain(|f| {
            let (own, label) = (f.instruction_name.to_lowercase(), f.label().to_lowercase());
            [&name, &bare].into_iter().any(|name| *name == own || *name == label)
        });
        all
    }

    /// The name in reports: `Sin`, `FAdd`, `Dot3`.
    pub fn label(&self) -> String {
        match self.operands.iter().max() {
            Some(&n) if n > 1 => format!("{}{n}", self.instruction_name),
            _ => self.instruction_name.to_owned(),
        }
    }

    /// The number of 32-bit words of all operands together.
    pub fn words(&self) -> usize {
        self.operands.iter().sum()
    }

    /// Whether its operands are a single 32-bit word, so that all inputs can be tried.
    pub fn is_unary(&self) -> bool {
        self.words() == 1
    }

    /// Whether the operand is an integer, as the second operand of Ldexp is.
    pub fn is_integer(&self, operand: usize) -> bool {
        self.instruction == glsl(spirv::GlslStd450Op::Ldexp) && operand == 1
    }

    /// The index of the operand that a word belongs to.
    pub fn operand_of(&self, word: usize) -> usize {
        let mut before = 0;
        self.operands
            .iter()
            .position(|&n| {
                before += n;
                word < before
            })
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Function;

    #[test]
    fn names_select_functions() {
        let labels = |name: &str| Function::named(name).iter().map(Function::label).collect::<Vec<_>>();
        assert_eq!(labels("sin"), ["Sin"]);
        assert_eq!(labels("OpFAdd"), ["FAdd"]);
        assert_eq!(labels("dot"), ["Dot2", "Dot3", "Dot4"]);
        assert_eq!(labels("Dot3"), ["Dot3"]);
        assert_eq!(labels("atan2"), ["Atan2"]);
        assert!(labels("frobnicate").is_empty());
    }

    #[test]
    fn no_two_functions_have_one_label() {
        let mut labels: Vec<_> = Function::all().iter().map(Function::label).collect();
        let count = labels.len();
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), count);
    }
}
