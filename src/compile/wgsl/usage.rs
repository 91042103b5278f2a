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

use std::sync::LazyLock;

use rspirv::spirv::{Decoration, GlslStd450Op as Glsl, Op, StorageClass};
use smallstep_semantics::spirv::cfg::{NONE, Node};
use smallstep_semantics::spirv::grammar;
use smallstep_semantics::spirv::module::{Function, WHOLE};
use smallstep_semantics::spirv::operation;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{self, Instruction, Module};

use super::structure::{ListId, Tree};

/// What there is to know of the instructions of an opcode.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The values among the operands: the first, the end, and how many from one to the next.
    first: u8,
    end: u8,
    step: u8,
    /// Which of these is a mask of image operands.
    mask: u8,
    /// Whether it only computes; OpExtInst does by its number.
    computes: bool,
    /// Whether it does something that shows even where its result is not used; OpExtInst may.
    effect: bool,
    /// Whether it does nothing.
    nothing: bool,
    /// Whether a pointer, an image or a sampler that it makes is spelled where it is used.
    place: bool,
    /// Whether a variable may be among its operands.
    names: bool,
}

/// Past all operands, or none.
const ALL: u8 = u8::MAX;

/// By opcode, as far as the grammar has opcodes.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let mut rows = Vec::new();
    for op in grammar::instructions().map(|i| i.opcode) {
        rows.resize(rows.len().max(op as usize + 1), Row::of(Op::Nop));
        rows[op as usize] = Row::of(op);
    }
    rows
});

#[inline]
fn row(op: Op) -> Row {
    ROWS.get(op as usize).copied().unwrap_or_else(|| Row::of(op))
}

impl Row {
    fn of(op: Op) -> Row {
        let (first, end, step, mask) = match op {
            Op::Load | Op::CompositeExtract | Op::ArrayLength | Op::BranchConditional | Op::Switch | Op::ReturnValue => (0, 1, 1, ALL),
            Op::Store | Op::CompositeInsert | Op::VectorShuffle | Op::CopyMemory => (0, 2, 1, ALL),
            Op::SDot | Op::UDot | Op::SUDot => (0, 2, 1, ALL),
            Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => (0, 3, 1, ALL),
            Op::FunctionCall => (1, ALL, 1, ALL),
            Op::ExtInst => (2, ALL, 1, ALL),
            Op::Phi => (0, ALL, 2, ALL),
            Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod | Op::ImageFetch | Op::ImageRead => (0, ALL, 1, 2),
            Op::ImageSampleProjImplicitLod | Op::ImageSampleProjExplicitLod => (0, ALL, 1, 2),
            Op::ImageGather | Op::ImageWrite => (0, ALL, 1, 3),
            Op::Line | Op::NoLine | Op::Nop | Op::Branch | Op::SelectionMerge | Op::LoopMerge => (0, 0, 1, ALL),
            Op::Label | Op::Variable | Op::Undef => (0, 0, 1, ALL),
            op if spirv::compares(op) => (0, ALL, 1, 3),
            _ => (0, ALL, 1, ALL),
        };
        let place = matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::SampledImage | Op::Image | Op::Load);
        let nothing = matches!(op, Op::Line | Op::NoLine | Op::Nop | Op::SelectionMerge | Op::LoopMerge);
        // What computes with numbers only takes none.
        let names = operation::core(op).is_none() || matches!(op, Op::Select | Op::CopyObject);
        Row { first, end, step, mask, computes: computes(op), effect: acts(op), nothing, place, names }
    }
}

/// Does something with the ids among the operands of an instruction that may be variables.
#[inline]
pub(super) fn each_name(module: &Module, i: &Instruction, each: impl FnMut(u32)) {
    let row = row(i.op);
    if row.names {
        row.each_value(module, i, each);
    }
}

impl Row {
    /// Does something with the ids of values among the operands of an instruction of the row's
    /// opcode, as often as it uses them.
    #[inline]
    fn each_value(self, module: &Module, i: &Instruction, mut each: impl FnMut(u32)) {
        let operands = i.operands(module.words());
        let Row { first, end, step, mask, .. } = self;
        let end = if end == ALL { operands.len() } else { operands.len().min(end.into()) };
        let Some(values) = operands.get(first.into()..end) else { return };
        match values.get(mask.into()..) {
            Some(behind) if mask != ALL => values[..mask.into()].iter().chain(behind.iter().skip(1)).for_each(|&id| each(id)),
            _ if step == 1 => values.iter().for_each(|&id| each(id)),
            _ => values.iter().step_by(step.into()).for_each(|&id| each(id)),
        }
    }
}

/// Whether values of a type are pointers, images or samplers.
fn is_spelled(module: &Module, type_: u32) -> bool {
    module.types().get(type_).is_some_and(|t| matches!(t, Type::Pointer { .. }) || t.is_opaque())
}

/// Whether an instruction only computes: its value follows from its operands, and it does nothing
/// else.
pub(super) fn is_combinatorial(module: &Module, i: &Instruction) -> bool {
    match i.op {
        Op::ExtInst => {
            let number = i.operands(module.words()).get(1).copied().unwrap_or(0);
            operation::glsl(number).is_some() && number != Glsl::Modf as u32 && number != Glsl::Frexp as u32
        }
        op => row(op).computes,
    }
}

/// Whether the instructions of an opcode only compute.
fn computes(op: Op) -> bool {
    match op {
        Op::ExtInst => false,
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
    if i.is(Op::ExtInst) {
        let number = i.operands(module.words()).get(1).copied().unwrap_or(0);
        return number == Glsl::Modf as u32 || number == Glsl::Frexp as u32;
    }
    row(i.op).effect
}

/// The same of the instructions of an opcode.
fn acts(op: Op) -> bool {
    match op {
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

/// What is known of an instruction, and of the value that it makes.
#[derive(Clone, Copy, Debug)]
struct Value {
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
    /// Whether what it makes is spelled where it is used.
    place: bool,
    /// The row of its opcode.
    row: Row,
    /// Whether it is translated.
    live: bool,
    /// Where it stands.
    stand: Stand,
    /// How often it is used.
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
    /// By instruction.
    values: Vec<Value>,
    /// By list: the values that are declared at its beginning.
    pub(super) hoisted: Vec<Vec<u32>>,
}

struct Finder<'m> {
    module: &'m Module,
    tree: &'m Tree,
    usage: Usage,
}

/// Finds where the values of a function stand.
pub(super) fn usage(module: &Module, function: &Function, tree: &Tree) -> Usage {
    let blocks = module.function_blocks(function);
    let first = blocks.first().map_or(0, |b| b.start as usize);
    let end = blocks.last().map_or(0, |b| b.end as usize);
    let n = end - first;
    let (rows, nothing) = (&**ROWS, Row::of(Op::Nop));
    let none = Value {
        node: NONE,
        list: NONE,
        accesses: 0,
        computes: false,
        stays: false,
        place: false,
        row: nothing,
        live: false,
        stand: Stand::Unused,
        count: 0,
        holds: NONE,
        seen: true,
        root: (NONE, 0),
        used_in: NONE,
        reads: NONE,
    };
    let mut values = vec![none; n];
    for (node, block) in blocks.iter().enumerate() {
        let (mut accesses, list) = (0, tree.list_of[node]);
        let values = &mut values[block.start as usize - first..block.end as usize - first];
        for (value, i) in values.iter_mut().zip(module.code(block)) {
            let row = rows.get(i.op as usize).copied().unwrap_or(nothing);
            let computes = row.computes || i.is(Op::ExtInst) && is_combinatorial(module, i);
            let stays = i.is(Op::Load) && reads_what_stays(module, i);
            let place = row.place && is_spelled(module, i.result_type);
            *value = Value { node: node as Node, list, accesses, computes, stays, place, row, ..none };
            accesses += u32::from(!computes && !stays && !row.nothing);
        }
    }
    let usage = Usage { first, values, hoisted: vec![Vec::new(); tree.lists.len()] };
    let mut finder = Finder { module, tree, usage };
    finder.find_live();
    finder.find_uses(function);
    finder.usage.hoisted.iter_mut().for_each(|ids| ids.reverse());
    finder.usage
}

impl Usage {
    /// Where the value stands that an instruction of the function defines, given its index.
    pub(super) fn stand(&self, index: usize) -> Stand {
        index.checked_sub(self.first).and_then(|at| self.values.get(at)).map_or(Stand::Unused, |value| value.stand)
    }

    /// Whether all uses of a value are in a list or within it.
    pub(super) fn stays_within(&self, module: &Module, id: u32, list: ListId, tree: &Tree) -> bool {
        let Some(at) = module.definition(id).and_then(|index| index.checked_sub(self.first)) else { return false };
        let Some(mut up) = self.values.get(at).map(|value| value.reads) else { return false };
        while up != list && up != NONE {
            up = tree.lists.get(up as usize).map_or(NONE, |l| if l.depth == 0 { NONE } else { l.parent });
        }
        up == list || self.values.get(at).is_some_and(|value| value.count == 0)
    }

    /// Whether an instruction is translated.
    pub(super) fn is_live(&self, index: usize) -> bool {
        index.checked_sub(self.first).and_then(|at| self.values.get(at)).is_some_and(|value| value.live)
    }
}

impl Finder<'_> {
    fn instruction(&self, at: usize) -> &Instruction {
        &self.module.instructions()[self.usage.first + at]
    }

    /// The place of the instruction of this function that defines an id.
    fn local(&self, id: u32) -> Option<usize> {
        let at = self.module.definition(id)?.checked_sub(self.usage.first)?;
        self.usage.values.get(at).is_some_and(|value| value.node != NONE).then_some(at)
    }

    /// Whether an instruction does something that shows even where nothing uses its result.
    fn acts(&self, at: usize) -> bool {
        let value = &self.usage.values[at];
        !value.computes && value.list != NONE && value.row.effect && has_effect(self.module, self.instruction(at))
    }

    fn find_live(&mut self) {
        // Without phis all uses stand behind what they use, and are found as they are counted.
        if self.tree.edges.is_empty() {
            return;
        }
        let mut work: Vec<usize> = (0..self.usage.values.len()).filter(|&at| self.acts(at)).collect();
        work.iter().for_each(|&at| self.usage.values[at].live = true);
        while let Some(at) = work.pop() {
            let module = self.module;
            self.usage.values[at].row.each_value(module, &module.instructions()[self.usage.first + at], |id| {
                if let Some(definition) = self.local(id)
                    && !std::mem::replace(&mut self.usage.values[definition].live, true)
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
            let root = (from, from_block.end - 1 - self.usage.first as u32);
            for at in block.start..block.end {
                let i = &self.module.instructions()[at as usize];
                if !i.is(Op::Phi) {
                    if matches!(i.op, Op::Line | Op::NoLine) {
                        continue;
                    }
                    break;
                }
                let at = at as usize - self.usage.first;
                if !self.usage.values[at].live {
                    continue;
                }
                self.hold(at, list);
                for pair in i.operands(self.module.words()).chunks_exact(2) {
                    if pair[1] == from_block.label {
                        self.used(pair[0], list, root);
                    }
                }
            }
        }
        for at in (0..self.usage.values.len()).rev() {
            let value = self.usage.values[at];
            let Value { node, list, place, row, .. } = value;
            if list == NONE || !value.live && !self.acts(at) {
                continue;
            }
            // All uses of it are found by now.
            let i = *self.instruction(at);
            let stand = self.decide(&i, &value);
            let known = &mut self.usage.values[at];
            (known.live, known.stand) = (true, stand);
            if let Stand::Var(list) = stand {
                self.usage.hoisted[list as usize].push(i.result);
            }
            if i.is(Op::Phi) {
                continue;
            }
            if place {
                // What uses the pointer uses its operands.
                row.each_value(self.module, &i, |id| {
                    for _ in 0..value.count.min(2) {
                        self.used(id, value.used_in, value.root);
                    }
                    self.spread(id, value.holds);
                });
                continue;
            }
            let root = if stand == Stand::Inline { value.root } else { (node, at as u32) };
            row.each_value(self.module, &i, |id| self.used(id, list, root));
        }
    }

    /// Where the value stands that an instruction makes.
    fn decide(&self, i: &Instruction, value: &Value) -> Stand {
        if i.result == 0 {
            Stand::Unused
        } else if value.place || i.is(Op::Variable) {
            Stand::Inline
        } else if i.is(Op::Phi) {
            Stand::Var(if value.holds == NONE { value.list } else { value.holds })
        } else if value.count == 0 {
            Stand::Unused
        } else if self.inlines(i, value) {
            Stand::Inline
        } else if value.seen {
            Stand::Let
        } else {
            Stand::Var(value.holds)
        }
    }

    /// A use of a value that is evaluated there.
    fn used(&mut self, id: u32, list: ListId, root: (Node, u32)) {
        let Some(at) = self.local(id) else { return };
        let value = &mut self.usage.values[at];
        value.live = true;
        value.count = value.count.saturating_add(1);
        (value.root, value.used_in) = (root, list);
        let reads = value.reads;
        self.hold(at, list);
        if reads != list {
            self.usage.values[at].reads = if reads == NONE { list } else { self.common(reads, list) };
        }
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
            let reads = self.usage.values[at].reads;
            if list != NONE && reads != NONE {
                self.usage.values[at].reads = self.common(reads, list);
            }
        }
    }

    fn hold(&mut self, at: usize, list: ListId) {
        let value = &mut self.usage.values[at];
        let own = value.list;
        if list == NONE || own == NONE {
            return;
        }
        if list == own && (value.holds == NONE || value.holds == own) {
            value.holds = own;
            return;
        }
        let lists = &self.tree.lists;
        let (a, b) = (if value.holds == NONE { own } else { value.holds }, list);
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
        let value = &mut self.usage.values[at];
        value.holds = a;
        value.seen &= seen;
    }

    /// Whether a value stands in the expression that uses it.
    fn inlines(&self, i: &Instruction, value: &Value) -> bool {
        if value.count != 1 || value.used_in != value.list {
            return false;
        }
        match i.op {
            Op::Load if value.stays => true,
            Op::Load => {
                let (block, root) = value.root;
                let root = self.usage.values.get(root as usize);
                block == value.node && root.is_some_and(|root| root.accesses == value.accesses + 1)
            }
            Op::CompositeInsert | Op::VectorInsertDynamic | Op::Phi | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => false,
            Op::Select => self.module.shape(i.result).is_data() && self.module.shape(i.result).columns == 1,
            Op::ExtInst => {
                let number = i.operands(self.module.words())[1];
                value.computes && number != Glsl::ModfStruct as u32 && number != Glsl::FrexpStruct as u32
            }
            _ => value.computes,
        }
    }
}
