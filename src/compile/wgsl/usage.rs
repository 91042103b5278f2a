//! Where values stand in the text (seed 002, Preserving execution order; Hoisting and phis).
//!
//! | a value | stands |
//! |---|---|
//! | that is only computed, with one use in the same list | in the expression that uses it |
//! | that is read from memory, with one use, and computation only between | in that expression |
//! | all of whose uses see its definition | in a `let` |
//! | else, and a phi | in a `var` of the innermost list that holds its definition and all uses |
//! | a pointer | nowhere: its uses spell it, and so its indices are used where it is |
//! | a phi, a selection of pointers | as other values: what is saved of it ([`super::pointer`]) |
//!
//! So nothing moves across an access, a barrier or a call, and nothing moves into a loop.

use rspirv::spirv::{Decoration, GlslStd450Op as Glsl, Op, StorageClass};
use smallstep_semantics::spirv::cfg::{NONE, Node};
use smallstep_semantics::spirv::module::{Function, WHOLE};
use smallstep_semantics::spirv::operation;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{self, Instruction, Module};

use super::structure::{ListId, Tree};

/// Does something with the ids of values among the operands of an instruction, as often as it uses
/// them.
#[inline]
pub(super) fn each_value(module: &Module, i: &Instruction, mut each: impl FnMut(u32)) {
    let operands = i.operands(module.words());
    // The first one, the end, how many from one to the next, and which is a mask.
    let (first, end, step, mask) = match i.op {
        Op::Load | Op::CompositeExtract | Op::ArrayLength | Op::BranchConditional | Op::Switch | Op::ReturnValue => (0, 1, 1, NO_MASK),
        Op::Store | Op::CompositeInsert | Op::VectorShuffle | Op::CopyMemory => (0, 2, 1, NO_MASK),
        Op::SDot | Op::UDot | Op::SUDot => (0, 2, 1, NO_MASK),
        Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => (0, 3, 1, NO_MASK),
        Op::FunctionCall => (1, usize::MAX, 1, NO_MASK),
        Op::ExtInst => (2, usize::MAX, 1, NO_MASK),
        Op::Phi => (0, usize::MAX, 2, NO_MASK),
        Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod | Op::ImageFetch | Op::ImageRead => (0, usize::MAX, 1, 2),
        Op::ImageSampleProjImplicitLod | Op::ImageSampleProjExplicitLod => (0, usize::MAX, 1, 2),
        Op::ImageGather | Op::ImageWrite => (0, usize::MAX, 1, 3),
        Op::Line | Op::NoLine | Op::Nop | Op::Branch | Op::SelectionMerge | Op::LoopMerge | Op::Label | Op::Variable | Op::Undef => return,
        op if spirv::compares(op) => (0, usize::MAX, 1, 3),
        _ => (0, usize::MAX, 1, NO_MASK),
    };
    let values = operands.get(first..end.min(operands.len())).unwrap_or_default();
    match values.get(mask..) {
        Some(behind) => values[..mask].iter().chain(behind.iter().skip(1)).for_each(|&id| each(id)),
        None if step == 1 => values.iter().for_each(|&id| each(id)),
        None => values.iter().step_by(step).for_each(|&id| each(id)),
    }
}

/// No operand is a mask of image operands.
const NO_MASK: usize = usize::MAX;

/// Whether an instruction only computes: its value follows from its operands, and it does nothing
/// else.
pub(super) fn is_combinatorial(module: &Module, i: &Instruction) -> bool {
    match i.op {
        Op::ExtInst => {
            let number = i.operands(module.words()).get(1).copied().unwrap_or(0);
            operation::glsl(number).is_some() && number != Glsl::Modf as u32 && number != Glsl::Frexp as u32
        }
        Op::CompositeConstruct
        | Op::CompositeExtract
        | Op::CompositeInsert
        | Op::CopyObject
        | Op::CopyLogical
        | Op::VectorShuffle
        | Op::VectorExtractDynamic
        | Op::VectorInsertDynamic
        | Op::Undef
        | Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::SampledImage
        | Op::Image
        | Op::Phi
        | Op::Variable => true,
        op => operation::core(op).is_some(),
    }
}

/// Whether an instruction reads what nothing writes: an input, or a uniform buffer.
fn reads_what_stays(module: &Module, i: &Instruction) -> bool {
    if !i.is(Op::Load) {
        return false;
    }
    let mut pointer = i.operands(module.words())[0];
    // Chains are as long as the module has them.
    for _ in 0..MAX_CHAIN {
        let Some(made) = module.instruction(pointer) else { return false };
        match made.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => pointer = made.operands(module.words())[0],
            _ => break,
        }
    }
    module.variable(pointer).is_some_and(|v| match v.class {
        StorageClass::Input | StorageClass::UniformConstant => true,
        StorageClass::Uniform => {
            let mut type_ = v.type_;
            while let Some(Type::Array { element, .. }) = module.types().get(type_) {
                type_ = element;
            }
            module.decoration(type_, WHOLE, Decoration::BufferBlock).is_none()
        }
        StorageClass::PushConstant => true,
        _ => false,
    })
}

/// How many access chains are followed to the variable.
const MAX_CHAIN: usize = 16;

/// Whether an instruction that does not only compute does something that shows even where its
/// result is not used.
fn has_effect(module: &Module, i: &Instruction) -> bool {
    match i.op {
        Op::Load | Op::ArrayLength | Op::AtomicLoad => false,
        Op::Nop | Op::Line | Op::NoLine | Op::SelectionMerge | Op::LoopMerge => false,
        Op::ImageSampleImplicitLod
        | Op::ImageSampleExplicitLod
        | Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleDrefExplicitLod
        | Op::ImageSampleProjImplicitLod
        | Op::ImageSampleProjExplicitLod
        | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageSampleProjDrefExplicitLod
        | Op::ImageFetch
        | Op::ImageGather
        | Op::ImageDrefGather
        | Op::ImageRead
        | Op::ImageQuerySize
        | Op::ImageQuerySizeLod
        | Op::ImageQueryLevels
        | Op::ImageQueryLod
        | Op::ImageQuerySamples => false,
        op if spirv::is_derivative(op) => false,
        Op::ExtInst => {
            let number = i.operands(module.words()).get(1).copied().unwrap_or(0);
            number == Glsl::Modf as u32 || number == Glsl::Frexp as u32
        }
        _ => true,
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// Nowhere: nothing uses it.
    Unused,
    /// In the expression that uses it.
    Inline,
    /// In a `let` where it is defined.
    Let,
    /// In a `var` at the beginning of the list.
    Var(ListId),
}

#[derive(Clone, Copy, Debug)]
struct Uses {
    count: u32,
    /// The innermost list that holds the definition and all uses so far.
    holds: ListId,
    /// Whether all uses so far see what is declared where the definition is.
    seen: bool,
    /// The block and the instruction at which the last use that was found is evaluated.
    root: (Node, u32),
    /// The list of that use.
    used_in: ListId,
    /// The innermost list that holds all uses so far, without copies to a phi.
    reads: ListId,
}

/// What is known of the values of a function.
#[derive(Debug)]
pub(super) struct Usage {
    /// The index of the first instruction of the function.
    first: usize,
    uses: Vec<Uses>,
    live: Vec<bool>,
    stands: Vec<Stand>,
    /// By list: the values that are declared at its beginning.
    pub(super) hoisted: Vec<Vec<u32>>,
}

/// What is known of an instruction by itself.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The block that it is in.
    node: Node,
    /// The list that the block is in.
    list: ListId,
    /// How many before it in its block neither compute nor read what stays.
    accesses: u32,
    /// Whether it only computes.
    computes: bool,
    /// Whether it reads what nothing writes.
    stays: bool,
}

struct Finder<'m> {
    module: &'m Module,
    tree: &'m Tree,
    first: usize,
    /// By instruction.
    known: Vec<Known>,
    usage: Usage,
}

/// Finds where the values of a function stand.
pub(super) fn usage(module: &Module, function: &Function, tree: &Tree) -> Usage {
    let blocks = module.function_blocks(function);
    let first = blocks.first().map_or(0, |b| b.start as usize);
    let end = blocks.last().map_or(0, |b| b.end as usize);
    let n = end - first;
    let mut known = vec![Known { node: NONE, list: NONE, accesses: 0, computes: false, stays: false }; n];
    for (node, block) in blocks.iter().enumerate() {
        let (mut accesses, list) = (0, tree.list_of[node]);
        for (at, i) in (block.start as usize - first..).zip(module.code(block)) {
            let computes = is_combinatorial(module, i);
            let stays = !computes && reads_what_stays(module, i);
            known[at] = Known { node: node as Node, list, accesses, computes, stays };
            let harmless = matches!(i.op, Op::Line | Op::NoLine | Op::Nop | Op::SelectionMerge | Op::LoopMerge);
            accesses += u32::from(!harmless && !computes && !stays);
        }
    }
    let none = Uses { count: 0, holds: NONE, seen: true, root: (NONE, 0), used_in: NONE, reads: NONE };
    let usage = Usage {
        first,
        uses: vec![none; n],
        live: vec![false; n],
        stands: vec![Stand::Unused; n],
        hoisted: vec![Vec::new(); tree.lists.len()],
    };
    let mut finder = Finder { module, tree, first, known, usage };
    finder.find_live();
    finder.find_uses(function);
    finder.decide();
    finder.usage
}

impl Usage {
    /// Where the value stands that an instruction of the function defines, given its index.
    pub(super) fn stand(&self, index: usize) -> Stand {
        index.checked_sub(self.first).and_then(|at| self.stands.get(at)).copied().unwrap_or(Stand::Unused)
    }

    /// Whether all uses of a value are in a list or within it.
    pub(super) fn stays_within(&self, module: &Module, id: u32, list: ListId, tree: &Tree) -> bool {
        let Some(at) = module.definition(id).and_then(|index| index.checked_sub(self.first)) else { return false };
        let Some(mut up) = self.uses.get(at).map(|uses| uses.reads) else { return false };
        while up != list && up != NONE {
            up = tree.lists.get(up as usize).map_or(NONE, |l| if l.depth == 0 { NONE } else { l.parent });
        }
        up == list || self.uses.get(at).is_some_and(|uses| uses.count == 0)
    }

    /// Whether an instruction is translated.
    pub(super) fn is_live(&self, index: usize) -> bool {
        index.checked_sub(self.first).and_then(|at| self.live.get(at)).copied().unwrap_or(false)
    }
}

impl Finder<'_> {
    fn instruction(&self, at: usize) -> &Instruction {
        &self.module.instructions()[self.first + at]
    }

    /// The place of the instruction of this function that defines an id.
    fn local(&self, id: u32) -> Option<usize> {
        let at = self.module.definition(id)?.checked_sub(self.first)?;
        self.known.get(at).is_some_and(|known| known.node != NONE).then_some(at)
    }

    fn list_of(&self, at: usize) -> ListId {
        self.known[at].list
    }

    fn find_live(&mut self) {
        let mut work = Vec::new();
        for at in 0..self.known.len() {
            let known = self.known[at];
            if !known.computes && known.list != NONE && has_effect(self.module, self.instruction(at)) {
                self.usage.live[at] = true;
                work.push(at);
            }
        }
        while let Some(at) = work.pop() {
            let module = self.module;
            each_value(module, &module.instructions()[self.first + at], |id| {
                if let Some(definition) = self.local(id)
                    && !std::mem::replace(&mut self.usage.live[definition], true)
                {
                    work.push(definition);
                }
            });
        }
    }

    fn find_uses(&mut self, function: &Function) {
        let blocks = self.module.function_blocks(function);
        // Phis first: what they use may stand behind them.
        for (&(from, to), &list) in &self.tree.edges {
            let (block, from_block) = (&blocks[to as usize], &blocks[from as usize]);
            let root = (from, from_block.end - 1 - self.first as u32);
            for at in block.start..block.end {
                let i = &self.module.instructions()[at as usize];
                if !i.is(Op::Phi) {
                    if matches!(i.op, Op::Line | Op::NoLine) {
                        continue;
                    }
                    break;
                }
                if !self.usage.live[at as usize - self.first] {
                    continue;
                }
                self.hold(at as usize - self.first, list);
                for pair in i.operands(self.module.words()).chunks_exact(2) {
                    if pair[1] == from_block.label {
                        self.used(pair[0], list, root);
                    }
                }
            }
        }
        for at in (0..self.known.len()).rev() {
            let Known { node, list, .. } = self.known[at];
            if !self.usage.live[at] || list == NONE || self.instruction(at).is(Op::Phi) {
                continue;
            }
            let i = *self.instruction(at);
            if self.is_place(&i) {
                // What uses the pointer uses its operands.
                let uses = self.usage.uses[at];
                each_value(self.module, &i, |id| {
                    for _ in 0..uses.count.min(2) {
                        self.used(id, uses.used_in, uses.root);
                    }
                    self.spread(id, uses.holds);
                });
                continue;
            }
            let uses = self.usage.uses[at];
            let inlines = self.inlines(at, &i, &uses);
            let root = if inlines { uses.root } else { (node, at as u32) };
            each_value(self.module, &i, |id| self.used(id, list, root));
        }
    }

    fn is_place(&self, i: &Instruction) -> bool {
        let pointer = self.module.types().get(i.result_type).is_some_and(|t| matches!(t, Type::Pointer { .. }) || t.is_opaque());
        pointer && matches!(i.op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::SampledImage | Op::Image | Op::Load)
    }

    /// A use of a value that is evaluated there.
    fn used(&mut self, id: u32, list: ListId, root: (Node, u32)) {
        let Some(at) = self.local(id) else { return };
        let uses = &mut self.usage.uses[at];
        uses.count = uses.count.saturating_add(1);
        uses.root = root;
        uses.used_in = list;
        let reads = uses.reads;
        self.hold(at, list);
        self.usage.uses[at].reads = if reads == NONE { list } else { self.common(reads, list) };
    }

    /// The innermost list that holds both.
    fn common(&self, mut a: ListId, mut b: ListId) -> ListId {
        let lists = &self.tree.lists;
        while a != b {
            let (da, db) = (lists[a as usize].depth, lists[b as usize].depth);
            if da >= db {
                a = lists[a as usize].parent;
            }
            if db >= da {
                b = lists[b as usize].parent;
            }
        }
        a
    }

    /// A list that a value is used in, or one that holds all lists that it is used in.
    fn spread(&mut self, id: u32, list: ListId) {
        if let Some(at) = self.local(id) {
            self.hold(at, list);
            if list != NONE && self.usage.uses[at].reads != NONE {
                self.usage.uses[at].reads = self.common(self.usage.uses[at].reads, list);
            }
        }
    }

    fn hold(&mut self, at: usize, list: ListId) {
        let own = self.list_of(at);
        if list == NONE || own == NONE {
            return;
        }
        let holds = &mut self.usage.uses[at].holds;
        if list == own && (*holds == NONE || *holds == own) {
            *holds = own;
            return;
        }
        let lists = &self.tree.lists;
        let (a, b) = (if self.usage.uses[at].holds == NONE { own } else { self.usage.uses[at].holds }, list);
        let mut seen = true;
        // The use is in the list of the definition or in one within, and not in the continue
        // construct of a loop whose body is that list.
        let mut up = list;
        while up != own {
            let Some(l) = lists.get(up as usize).filter(|l| l.depth > lists[own as usize].depth) else {
                seen = false;
                break;
            };
            seen &= !(l.continuing && l.parent == own);
            up = l.parent;
        }
        let a = self.common(a, b);
        let uses = &mut self.usage.uses[at];
        uses.holds = a;
        uses.seen &= seen;
    }

    /// Whether a value stands in the expression that uses it.
    fn inlines(&self, at: usize, i: &Instruction, uses: &Uses) -> bool {
        if uses.count != 1 || uses.used_in != self.list_of(at) {
            return false;
        }
        match i.op {
            Op::Load if self.known[at].stays => true,
            Op::Load => {
                let (block, root) = uses.root;
                let known = self.known[at];
                block == known.node && self.known.get(root as usize).is_some_and(|root| root.accesses == known.accesses + 1)
            }
            Op::CompositeInsert | Op::VectorInsertDynamic | Op::Phi | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => false,
            Op::Select => self.module.shape(i.result).is_data() && self.module.shape(i.result).columns == 1,
            Op::ExtInst => {
                let number = i.operands(self.module.words())[1];
                self.known[at].computes && number != Glsl::ModfStruct as u32 && number != Glsl::FrexpStruct as u32
            }
            _ => self.known[at].computes,
        }
    }

    fn decide(&mut self) {
        for at in 0..self.known.len() {
            let i = *self.instruction(at);
            if i.result == 0 || !self.usage.live[at] || self.list_of(at) == NONE {
                continue;
            }
            let uses = self.usage.uses[at];
            let stand = if self.is_place(&i) || i.is(Op::Variable) {
                Stand::Inline
            } else if i.is(Op::Phi) {
                Stand::Var(if uses.holds == NONE { self.list_of(at) } else { uses.holds })
            } else if uses.count == 0 {
                Stand::Unused
            } else if self.inlines(at, &i, &uses) {
                Stand::Inline
            } else if uses.seen {
                Stand::Let
            } else {
                Stand::Var(uses.holds)
            };
            if let Stand::Var(list) = stand {
                self.usage.hoisted[list as usize].push(i.result);
            }
            self.usage.stands[at] = stand;
        }
    }
}
