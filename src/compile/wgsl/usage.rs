//! Where values are spelled in the text (seed 002, Preserving execution order; Hoisting and phis).
//!
//! | a value | place in the text |
//! |---|---|
//! | of a pure computation, with one use in the same list | in the expression that uses it |
//! | of a read from memory, with one use, and only computations between | in that expression |
//! | whose uses all see its definition | in a `let` |
//! | any other, and a phi | in a `var` of the innermost list that holds definition and uses |
//! | a pointer | nowhere: its uses spell it, so they also use its indices |
//! | a phi or a selection of pointers | as other values: its saved parts ([`super::pointer`]) |
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

/// Facts about the instructions of an opcode.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The values among the operands: the index of the first, the end, and the step between them.
    first: u8,
    end: u8,
    step: u8,
    /// The index of the mask of image operands among these values. [`ALL`] if there is none.
    mask: u8,
    /// Whether it is a pure computation. OpExtInst is one for most function numbers.
    computes: bool,
    /// Whether it has an effect, even if its result is not used. OpExtInst has one for some
    /// function numbers.
    effect: bool,
    /// Whether it does nothing.
    is_nop: bool,
    /// Whether its result is spelled at its uses, if it is a pointer, an image or a sampler.
    place: bool,
    /// Whether a variable may be among its operands.
    names: bool,
}

/// An index after all operands, or the absence of one.
const ALL: u8 = u8::MAX;

/// The row of each opcode, up to the greatest opcode of the grammar.
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
        let is_nop = matches!(op, Op::Line | Op::NoLine | Op::Nop | Op::SelectionMerge | Op::LoopMerge);
        // Computations with numbers have no variable as an operand.
        let names = operation::core(op).is_none() || matches!(op, Op::Select | Op::CopyObject);
        Row { first, end, step, mask, computes: computes(op), effect: op_has_effect(op), is_nop, place, names }
    }
}

/// Calls `each` with the operands of an instruction that may be variables.
#[inline]
pub(super) fn each_name(module: &Module, i: &Instruction, each: impl FnMut(u32)) {
    let row = row(i.op);
    if row.names {
        row.each_value(module, i, each);
    }
}

impl Row {
    /// Calls `each` with every id of a value among the operands of an instruction of this opcode.
    /// An id that is used twice is passed twice.
    #[inline]
    fn each_value(self, module: &Module, i: &Instruction, mut each: impl FnMut(u32)) {
        let operands = i.operands(module.words());
        let Row { first, end, step, mask, .. } = self;
        let end = if end == ALL { operands.len() } else { operands.len().min(end.into()) };
        let Some(values) = operands.get(first.into()..end) else { return };
        match values.get(mask.into()..) {
            Some(after_mask) if mask != ALL => values[..mask.into()].iter().chain(after_mask.iter().skip(1)).for_each(|&id| each(id)),
            _ if step == 1 => values.iter().for_each(|&id| each(id)),
            _ => values.iter().step_by(step.into()).for_each(|&id| each(id)),
        }
    }
}

/// Whether values of a type are pointers, images or samplers.
fn is_spelled(module: &Module, type_: u32) -> bool {
    module.types().get(type_).is_some_and(|t| matches!(t, Type::Pointer { .. }) || t.is_opaque())
}

/// Whether an instruction is a pure computation: its value follows from its operands, and it has
/// no effect.
pub(super) fn is_combinatorial(module: &Module, i: &Instruction) -> bool {
    match i.op {
        Op::ExtInst => {
            let number = i.operands(module.words()).get(1).copied().unwrap_or(0);
            operation::glsl(number).is_some() && number != Glsl::Modf as u32 && number != Glsl::Frexp as u32
        }
        op => row(op).computes,
    }
}

/// Whether the instructions of an opcode are pure computations.
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

/// Whether an instruction reads memory that nothing writes: an input or a uniform buffer.
fn reads_constant_memory(module: &Module, i: &Instruction) -> bool {
    if !i.is(Op::Load) {
        return false;
    }
    let mut pointer = i.operands(module.words())[0];
    // The module decides how long a chain is, so the search is bounded.
    for _ in 0..MAX_CHAIN {
        let Some(pointer_source) = module.instruction(pointer) else { return false };
        match pointer_source.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => pointer = pointer_source.operands(module.words())[0],
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

/// The most access chains that are followed to a variable.
const MAX_CHAIN: usize = 16;

/// Whether an instruction that is no pure computation has an effect, even if its result is
/// not used.
fn has_effect(module: &Module, i: &Instruction) -> bool {
    if i.is(Op::ExtInst) {
        let number = i.operands(module.words()).get(1).copied().unwrap_or(0);
        return number == Glsl::Modf as u32 || number == Glsl::Frexp as u32;
    }
    row(i.op).effect
}

/// Whether the instructions of an opcode have an effect, even if the result is not used.
fn op_has_effect(op: Op) -> bool {
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

/// The place of a value in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Nowhere, since nothing uses it.
    Unused,
    /// In the expression that uses it.
    Inline,
    /// In a `let` at its definition.
    Let,
    /// In a `var` at the beginning of the list.
    Var(ListId),
}

/// Facts about an instruction and its value.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// The block of the instruction.
    node: Node,
    /// The list of that block.
    list: ListId,
    /// The number of earlier instructions in its block that access memory which may change, or
    /// have effects.
    accesses: u32,
    /// Whether it is a pure computation.
    computes: bool,
    /// Whether it reads memory that nothing writes.
    is_constant_load: bool,
    /// Whether its result is spelled at its uses.
    place: bool,
    /// The row of its opcode.
    row: Row,
    /// Whether it is translated.
    live: bool,
    /// The place of its value in the text.
    placement: Placement,
    /// The number of uses.
    count: u32,
    /// The innermost list that holds the definition and all uses so far.
    scope: ListId,
    /// Whether a declaration at the definition is in scope at all uses so far.
    in_scope: bool,
    /// The block and the index of the instruction where the use that was found last is evaluated.
    root: (Node, u32),
    /// The list of that use.
    use_list: ListId,
    /// The innermost list that holds all uses so far, without the assignments to a phi.
    use_scope: ListId,
}

/// Facts about the values of a function.
#[derive(Debug)]
pub(super) struct Usage {
    /// The index of the first instruction of the function.
    first: usize,
    /// By instruction of the function.
    values: Vec<Value>,
    /// By list: the values that are declared at its beginning.
    pub(super) hoisted: Vec<Vec<u32>>,
}

struct Finder<'m> {
    module: &'m Module,
    tree: &'m Tree,
    usage: Usage,
}

/// Finds the places of the values of a function in the text.
pub(super) fn usage(module: &Module, function: &Function, tree: &Tree) -> Usage {
    let blocks = module.function_blocks(function);
    let first = blocks.first().map_or(0, |b| b.start as usize);
    let end = blocks.last().map_or(0, |b| b.end as usize);
    let n = end - first;
    let (rows, nop) = (&**ROWS, Row::of(Op::Nop));
    let none = Value {
        node: NONE,
        list: NONE,
        accesses: 0,
        computes: false,
        is_constant_load: false,
        place: false,
        row: nop,
        live: false,
        placement: Placement::Unused,
        count: 0,
        scope: NONE,
        in_scope: true,
        root: (NONE, 0),
        use_list: NONE,
        use_scope: NONE,
    };
    let mut values = vec![none; n];
    for (node, block) in blocks.iter().enumerate() {
        let (mut accesses, list) = (0, tree.list_of[node]);
        let values = &mut values[block.start as usize - first..block.end as usize - first];
        for (value, i) in values.iter_mut().zip(module.code(block)) {
            let row = rows.get(i.op as usize).copied().unwrap_or(nop);
            let computes = row.computes || i.is(Op::ExtInst) && is_combinatorial(module, i);
            let is_constant_load = i.is(Op::Load) && reads_constant_memory(module, i);
            let place = row.place && is_spelled(module, i.result_type);
            *value = Value { node: node as Node, list, accesses, computes, is_constant_load, place, row, ..none };
            accesses += u32::from(!computes && !is_constant_load && !row.is_nop);
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
    /// The place of the value of an instruction of the function, by its index in the module.
    pub(super) fn placement(&self, index: usize) -> Placement {
        index.checked_sub(self.first).and_then(|at| self.values.get(at)).map_or(Placement::Unused, |value| value.placement)
    }

    /// Whether all uses of a value are in a list or nested in it.
    pub(super) fn stays_within(&self, module: &Module, id: u32, list: ListId, tree: &Tree) -> bool {
        let Some(at) = module.definition(id).and_then(|index| index.checked_sub(self.first)) else { return false };
        let Some(mut ancestor) = self.values.get(at).map(|value| value.use_scope) else { return false };
        while ancestor != list && ancestor != NONE {
            ancestor = tree.lists.get(ancestor as usize).map_or(NONE, |l| if l.depth == 0 { NONE } else { l.parent });
        }
        ancestor == list || self.values.get(at).is_some_and(|value| value.count == 0)
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

    /// The index, within this function, of the instruction that defines an id.
    fn local(&self, id: u32) -> Option<usize> {
        let at = self.module.definition(id)?.checked_sub(self.usage.first)?;
        self.usage.values.get(at).is_some_and(|value| value.node != NONE).then_some(at)
    }

    /// Whether an instruction has an effect, even if its result is not used.
    fn is_effectful(&self, at: usize) -> bool {
        let value = &self.usage.values[at];
        !value.computes && value.list != NONE && value.row.effect && has_effect(self.module, self.instruction(at))
    }

    fn find_live(&mut self) {
        // Without phis, all uses follow their definitions, and are found as they are counted.
        if self.tree.edges.is_empty() {
            return;
        }
        let mut work: Vec<usize> = (0..self.usage.values.len()).filter(|&at| self.is_effectful(at)).collect();
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
        // Phis come first, since their operands may be defined after them.
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
                self.widen_scope(at, list);
                for pair in i.operands(self.module.words()).chunks_exact(2) {
                    if pair[1] == from_block.label {
                        self.record_use(pair[0], list, root);
                    }
                }
            }
        }
        for at in (0..self.usage.values.len()).rev() {
            let value = self.usage.values[at];
            let Value { node, list, place, row, .. } = value;
            if list == NONE || !value.live && !self.is_effectful(at) {
                continue;
            }
            // All its uses are known now.
            let i = *self.instruction(at);
            let placement = self.decide(&i, &value);
            let known = &mut self.usage.values[at];
            (known.live, known.placement) = (true, placement);
            if let Placement::Var(list) = placement {
                self.usage.hoisted[list as usize].push(i.result);
            }
            if i.is(Op::Phi) {
                continue;
            }
            if place {
                // The instructions that use the pointer use its operands.
                row.each_value(self.module, &i, |id| {
                    for _ in 0..value.count.min(2) {
                        self.record_use(id, value.use_list, value.root);
                    }
                    self.extend_scope(id, value.scope);
                });
                continue;
            }
            let root = if placement == Placement::Inline { value.root } else { (node, at as u32) };
            row.each_value(self.module, &i, |id| self.record_use(id, list, root));
        }
    }

    /// Decides the place of the value of an instruction.
    fn decide(&self, i: &Instruction, value: &Value) -> Placement {
        if i.result == 0 {
            Placement::Unused
        } else if value.place || i.is(Op::Variable) {
            Placement::Inline
        } else if i.is(Op::Phi) {
            Placement::Var(if value.scope == NONE { value.list } else { value.scope })
        } else if value.count == 0 {
            Placement::Unused
        } else if self.inlines(i, value) {
            Placement::Inline
        } else if value.in_scope {
            Placement::Let
        } else {
            Placement::Var(value.scope)
        }
    }

    /// Records a use of a value in a list, evaluated at `root`.
    fn record_use(&mut self, id: u32, list: ListId, root: (Node, u32)) {
        let Some(at) = self.local(id) else { return };
        let value = &mut self.usage.values[at];
        value.live = true;
        value.count = value.count.saturating_add(1);
        (value.root, value.use_list) = (root, list);
        let use_scope = value.use_scope;
        self.widen_scope(at, list);
        if use_scope != list {
            self.usage.values[at].use_scope = if use_scope == NONE { list } else { self.common(use_scope, list) };
        }
    }

    /// The innermost list that holds both lists.
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

    /// Records a list that a value is used in, or a list that holds all such lists.
    fn extend_scope(&mut self, id: u32, list: ListId) {
        if let Some(at) = self.local(id) {
            self.widen_scope(at, list);
            let use_scope = self.usage.values[at].use_scope;
            if list != NONE && use_scope != NONE {
                self.usage.values[at].use_scope = self.common(use_scope, list);
            }
        }
    }

    fn widen_scope(&mut self, at: usize, list: ListId) {
        let value = &mut self.usage.values[at];
        let own_list = value.list;
        if list == NONE || own_list == NONE {
            return;
        }
        if list == own_list && (value.scope == NONE || value.scope == own_list) {
            value.scope = own_list;
            return;
        }
        let lists = &self.tree.lists;
        let (a, b) = (if value.scope == NONE { own_list } else { value.scope }, list);
        let mut in_scope = true;
        // A declaration is seen by a use in its own list or in a nested one. It is not seen in the
        // continue construct of a loop whose body is that list.
        let mut ancestor = list;
        while ancestor != own_list {
            let Some(l) = lists.get(ancestor as usize).filter(|l| l.depth > lists[own_list as usize].depth) else {
                in_scope = false;
                break;
            };
            in_scope &= !(l.continuing && l.parent == own_list);
            ancestor = l.parent;
        }
        let a = self.common(a, b);
        let value = &mut self.usage.values[at];
        value.scope = a;
        value.in_scope &= in_scope;
    }

    /// Whether a value is spelled in the expression that uses it.
    fn inlines(&self, i: &Instruction, value: &Value) -> bool {
        if value.count != 1 || value.use_list != value.list {
            return false;
        }
        match i.op {
            Op::Load if value.is_constant_load => true,
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
