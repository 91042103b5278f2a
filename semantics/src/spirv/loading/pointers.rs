//! The variables that a pointer may point into, if pointers are chosen at run time (SPIR-V
//! §2.16.1, variable pointers): by OpSelect, OpPhi, calls, and variables that hold pointers.

use rspirv::spirv::StorageClass;
use rustc_hash::FxHashMap;

use crate::spirv::grammar::Op;
use crate::spirv::module::Module;
use crate::spirv::words::Instruction;

/// The variables that a pointer may point into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::spirv) enum Root {
    /// No variable: the pointer is null, or no pointer flows into it.
    #[default]
    Nothing,
    /// The variable with this id.
    One(u32),
    /// Several variables.
    Several(Several),
}

/// Several variables. Buffers are distinguished, other variables are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spirv) struct Several {
    /// Bit n stands for the n-th variable in StorageBuffer. The last bit stands for all
    /// other variables.
    bits: u128,
}

impl Several {
    /// The bit of all variables without a bit of their own.
    const OTHERS: u32 = u128::BITS - 1;

    /// The ids of these buffers. `None` if the set may contain variables without a bit of
    /// their own.
    pub(in crate::spirv) fn buffers(self, module: &Module) -> Option<Vec<u32>> {
        if self.bits >> Several::OTHERS & 1 == 1 {
            return None;
        }
        let numbered = (0..).zip(buffers(module)).take_while(|&(number, _)| number < Several::OTHERS);
        Some(numbered.filter(|(number, _)| self.bits >> number & 1 == 1).map(|(_, id)| id).collect())
    }
}

/// The variables in StorageBuffer.
fn buffers(module: &Module) -> impl Iterator<Item = u32> + '_ {
    module.variables().iter().filter(|v| v.class == StorageClass::StorageBuffer).map(|v| v.id)
}

impl Root {
    /// The union of both. `numbers` has the number of each buffer.
    fn join(self, other: Root, numbers: &FxHashMap<u32, u32>) -> Root {
        let bits = |root: Root| match root {
            Root::Nothing => 0,
            Root::One(id) => 1 << numbers.get(&id).map_or(Several::OTHERS, |&number| number.min(Several::OTHERS)),
            Root::Several(several) => several.bits,
        };
        match (self, other) {
            (Root::Nothing, root) | (root, Root::Nothing) => root,
            (a, b) if a == b => a,
            (a, b) => Root::Several(Several { bits: bits(a) | bits(b) }),
        }
    }
}

/// The root of every pointer of a module. A variable that holds pointers has the root of
/// these pointers.
#[derive(Clone, Debug, Default)]
pub(in crate::spirv) struct Roots {
    /// By the index of the defining instruction. Empty if no pointer is chosen at run time.
    roots: Vec<Root>,
}

impl Roots {
    /// The roots of a module, if it may choose pointers.
    pub(in crate::spirv) fn of(module: &Module) -> Roots {
        if !module.has_variable_pointers() {
            return Roots::default();
        }
        let mut flow = Flow { module, next: vec![Vec::new(); module.instructions().len()] };
        for function in module.functions() {
            for i in module.function_blocks(function).iter().flat_map(|block| module.code(block)) {
                flow.instruction(i);
                if i.is(Op::ReturnValue) {
                    flow.edge(i.operands(module.words())[0], function.id);
                }
            }
        }
        let mut roots = vec![Root::Nothing; module.instructions().len()];
        let mut pending: Vec<usize> = Vec::new();
        let numbers = buffers(module).zip(0..).collect();
        for variable in module.variables().iter().filter(|v| module.pointer_type(v.type_).is_none()) {
            roots[variable.instruction as usize] = Root::One(variable.id);
            pending.push(variable.instruction as usize);
        }
        // Roots only grow.
        while let Some(at) = pending.pop() {
            for &to in &flow.next[at] {
                let joined = roots[to as usize].join(roots[at], &numbers);
                if joined != roots[to as usize] {
                    roots[to as usize] = joined;
                    pending.push(to as usize);
                }
            }
        }
        Roots { roots }
    }

    /// The variables that the pointer with this id may point into.
    pub(in crate::spirv) fn get(&self, module: &Module, id: u32) -> Root {
        module.definition(id).and_then(|at| self.roots.get(at)).copied().unwrap_or_default()
    }
}

/// By instruction, the instructions into which its pointers may flow.
struct Flow<'m> {
    module: &'m Module,
    next: Vec<Vec<u32>>,
}

impl Flow<'_> {
    fn edge(&mut self, from: u32, to: u32) {
        if let (Some(from), Some(to)) = (self.module.definition(from), self.module.definition(to)) {
            self.next[from].push(to as u32);
        }
    }

    fn is_pointer(&self, id: u32) -> bool {
        self.module.type_of(id).is_some_and(|type_| self.module.pointer_type(type_).is_some())
    }

    fn instruction(&mut self, i: &Instruction) {
        let module = self.module;
        let operands = i.operands(module.words());
        let results = module.pointer_type(i.result_type).is_some();
        match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain => self.edge(operands[0], i.result),
            Op::CopyObject | Op::Load if results => self.edge(operands[0], i.result),
            Op::Select if results => operands[1..].iter().for_each(|&id| self.edge(id, i.result)),
            Op::Phi if results => operands.iter().step_by(2).for_each(|&id| self.edge(id, i.result)),
            Op::Store if self.is_pointer(operands[1]) => self.edge(operands[1], operands[0]),
            Op::FunctionCall => {
                let Some(function) = module.function(operands[0]) else { return };
                for (&argument, parameter) in operands[1..].iter().zip(module.parameters(function)) {
                    if module.pointer_type(parameter.type_).is_none() {
                        continue;
                    }
                    self.edge(argument, parameter.id);
                    // The function may store into a variable that holds pointers.
                    if module.holds_pointer(parameter.type_) {
                        self.edge(parameter.id, argument);
                    }
                }
                if results {
                    self.edge(function.id, i.result);
                }
            }
            _ => {}
        }
    }
}
