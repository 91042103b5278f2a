//! Facts about the functions of a module, found in one walk over their instructions.

use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::Module;
use smallvec::SmallVec;

use super::pointer::base;
use super::usage::each_name;

/// The functions that name a variable at module scope.
#[derive(Clone, Debug, Default)]
pub(super) struct VariableUses {
    /// The ids of the functions, in order.
    pub(super) functions: SmallVec<[u32; 2]>,
    /// Whether a pointer to the variable or to a part of it is an argument of a call.
    pub(super) is_argument: bool,
}

/// Facts about a function.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionFacts {
    /// The ids of its callees.
    pub(super) callees: Vec<u32>,
    /// The pointers that it stores through, or that an atomic accesses.
    pub(super) writes: Vec<u32>,
    /// Whether it ends its invocation.
    pub(super) kills: bool,
}

/// Facts about the functions of a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    /// By index in [`Module::globals`].
    uses_by_global: Vec<VariableUses>,
    /// By index of the OpVariable: the index in [`Module::globals`].
    globals: FxHashMap<u32, u32>,
    /// By index in [`Module::functions`].
    pub(super) functions: Vec<FunctionFacts>,
    /// The indices of atomic instructions. `barriers` and `calls` hold those of OpMemoryBarrier and
    /// of calls.
    pub(super) atomics: Vec<u32>,
    pub(super) barriers: Vec<u32>,
    pub(super) calls: Vec<u32>,
    /// The indices of the instructions that sample, read or write images.
    pub(super) images: Vec<u32>,
}

/// The index that stands for no variable.
const NONE: u32 = u32::MAX;

/// Whether an instruction is atomic.
pub(super) fn is_atomic(op: Op) -> bool {
    Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32
}

impl Scan {
    /// Walks over a module.
    pub(super) fn of(module: &Module) -> Scan {
        let globals = module.globals();
        let mut scan = Scan { uses_by_global: vec![VariableUses::default(); globals.len()], ..Scan::default() };
        scan.globals = globals.iter().zip(0..).map(|(variable, at)| (variable.id, at)).collect();
        // A definition after the last variable at module scope is no such variable.
        let end = globals.last().map_or(0, |variable| variable.instruction as usize + 1);
        let mut numbers = vec![NONE; end];
        for (variable, number) in globals.iter().zip(0..) {
            numbers[variable.instruction as usize] = number;
        }
        let global = |id: u32| numbers.get(module.definition(id)?).copied().filter(|&number| number != NONE);
        for function in module.functions() {
            let mut facts = FunctionFacts::default();
            for block in module.function_blocks(function) {
                for (i, index) in module.code(block).iter().zip(block.start..) {
                    let is_call = i.is(Op::FunctionCall);
                    each_name(module, i, |id| {
                        // The argument may point to a part of the variable.
                        let id = if is_call { base(module, id) } else { id };
                        if let Some(number) = global(id) {
                            let uses = &mut scan.uses_by_global[number as usize];
                            if uses.functions.last() != Some(&function.id) {
                                uses.functions.push(function.id);
                            }
                            uses.is_argument |= is_call;
                        }
                    });
                    let operands = i.operands(module.words());
                    match i.op {
                        Op::Store | Op::CopyMemory => facts.writes.push(operands[0]),
                        Op::FunctionCall => {
                            facts.callees.push(operands[0]);
                            scan.calls.push(index);
                        }
                        Op::ExtInst if operands[1] == Glsl::Modf as u32 || operands[1] == Glsl::Frexp as u32 => {
                            facts.writes.extend(operands.last());
                        }
                        Op::Kill | Op::TerminateInvocation => facts.kills = true,
                        Op::MemoryBarrier => scan.barriers.push(index),
                        op if is_atomic(op) => {
                            scan.atomics.push(index);
                            facts.writes.push(operands[0]);
                        }
                        op if Op::ImageSampleImplicitLod as u32 <= op as u32 && op as u32 <= Op::ImageWrite as u32 => {
                            scan.images.push(index);
                        }
                        _ => {}
                    }
                }
            }
            scan.functions.push(facts);
        }
        scan
    }

    /// The functions that name a variable at module scope.
    pub(super) fn uses_of(&self, id: u32) -> Option<&VariableUses> {
        self.uses_by_global.get(*self.globals.get(&id)? as usize)
    }

    /// Whether any function names a variable.
    pub(super) fn uses(&self, id: u32) -> bool {
        self.uses_of(id).is_some_and(|uses| !uses.functions.is_empty())
    }

    /// By function: its callers.
    pub(super) fn callers(&self, module: &Module) -> FxHashMap<u32, Vec<u32>> {
        let mut callers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (function, facts) in module.functions().iter().zip(&self.functions) {
            facts.callees.iter().for_each(|&callee| callers.entry(callee).or_default().push(function.id));
        }
        callers
    }
}
