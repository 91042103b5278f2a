//! Compilation from a typed program to code.
//!
//! Every function that the root may reach is compiled once. An expression becomes instructions that
//! leave its value at a slot. If the caller names the slot, only the last of these instructions
//! writes to it. The value of a variable that is read stays in the variable's own slot, unless
//! something that is evaluated later may write to it ([`effects`]).

mod access;
mod call;
mod condition;
mod effects;
mod expression;
mod library;
mod place;
mod statement;
mod texture;

use super::code::{Code, Instruction, Parameter, Reference, Slot, Values, Words, words};
use super::{MAX_INSTRUCTIONS, MAX_WORDS, Refusal};
use crate::text::{Span, deep};
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::Generated;
use crate::wsl::layout::Layouts;
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Derivative;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::texture::sampling::needs_quad;
use crate::wsl::types::{EnumId, StructId, Type, TypeId};
use crate::wsl::typing::program::{ExprId, Form, Program, StoreId};
use effects::Effects;
use rustc_hash::{FxHashMap, FxHashSet};
use statement::JumpTargets;

/// A place in the code that need not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Label(u32);

/// A function that calls refer to.
#[derive(Clone, Debug)]
struct Callable {
    parameters: Vec<Words>,
    result: Words,
    label: Label,
}

/// The words of intermediate values of one function. They are free again after each statement.
#[derive(Clone, Debug, Default)]
struct Temporaries {
    chunks: Vec<Words>,
    chunk: usize,
    used: u32,
}

/// The state of the compilation of a program.
pub(super) struct Compiler<'a> {
    program: &'a Program,
    layouts: Layouts,
    code: Code,
    effects: Vec<Effects>,
    stores: FxHashMap<StoreId, Slot>,
    functions: FxHashMap<FunctionId, Callable>,
    todo: Vec<FunctionId>,
    /// The parameter of each generated accessor that is made from a declared address-taker.
    generated: FxHashMap<Generated, Slot>,
    constants: FxHashMap<u32, Slot>,
    /// The contents of the slots of constants.
    known_bits: FxHashMap<Slot, u32>,
    pairs: FxHashMap<(u32, u32), Slot>,
    enums: FxHashMap<EnumId, u32>,
    labels: Vec<u32>,
    temporaries: Temporaries,
    jump_targets: JumpTargets,
    /// Whether the function that is compiled may wait at a barrier or for its quad.
    waits: bool,
    /// The root's parameters, whose values come from outside.
    root_parameters: FxHashSet<StoreId>,
    /// By function, whether it may wait.
    may_wait: Vec<bool>,
    result: Words,
    span: Span,
    /// Whether to copy every value and check every index where it is evaluated.
    plain: bool,
    /// The number of expressions evaluated since the last instruction.
    pending_nodes: u32,
}

type Done<T = ()> = Result<T, Refusal>;

/// Compiles everything that the root may reach. If `plain`, without shortcuts.
pub(super) fn compile(program: &Program, root: FunctionId, plain: bool) -> Done<Code> {
    let effects = effects::effects(program);
    let mut c = Compiler {
        program,
        layouts: Layouts::default(),
        // Word 0 is unused, so that there is always a first word before a pointer's second word.
        code: Code { words: 1, ..Code::default() },
        effects,
        stores: FxHashMap::default(),
        functions: FxHashMap::default(),
        todo: Vec::new(),
        generated: FxHashMap::default(),
        constants: FxHashMap::default(),
        known_bits: FxHashMap::default(),
        pairs: FxHashMap::default(),
        enums: FxHashMap::default(),
        labels: Vec::new(),
        temporaries: Temporaries::default(),
        jump_targets: JumpTargets::default(),
        waits: false,
        root_parameters: program.body(root).parameters.iter().copied().collect(),
        may_wait: may_wait(program),
        result: Words { at: 0, n: 0 },
        span: program.stmt(program.body(root).block).span,
        plain,
        pending_nodes: 0,
    };
    let callable = c.callable(root)?;
    while let Some(id) = c.todo.pop() {
        c.function(id)?;
    }
    let function = program.env.function(root);
    for (at, p) in callable.parameters.iter().zip(&function.parameters) {
        c.span = p.span;
        let mut references = Vec::new();
        c.references(p.ty, 0, &mut references)?;
        c.code.parameters.push(Parameter { at: *at, references });
    }
    if program.env.types.is_reference(function.result) {
        return Err(Refusal::unsupported("a pointer as a result", function.result_span));
    }
    c.code.entry = c.labels[callable.label.0 as usize];
    c.code.result = callable.result;
    c.resolve();
    Ok(c.code)
}

/// By function, whether it may wait at a barrier or for its quad.
fn may_wait(program: &Program) -> Vec<bool> {
    let mut may_wait = vec![false; program.bodies.len()];
    for &id in &program.order {
        let waits = program.body(id).exprs.clone().map(ExprId).any(|e| {
            program.callees(e).iter().any(|callee| match callee {
                crate::wsl::environment::access::Callee::Declared(f)
                | crate::wsl::environment::access::Callee::Generated(Generated::Getter(f) | Generated::Setter(f)) => may_wait[f.0 as usize],
                crate::wsl::environment::access::Callee::Library(f) => waits(f.meaning()),
                _ => false,
            })
        });
        may_wait[id.0 as usize] = waits;
    }
    may_wait
}

fn is_barrier(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::AllMemoryBarrierWithGroupSync | Meaning::DeviceMemoryBarrierWithGroupSync | Meaning::GroupMemoryBarrierWithGroupSync
    )
}

fn waits(meaning: Meaning) -> bool {
    is_barrier(meaning) || Derivative::of(meaning).is_some() || needs_quad(meaning)
}

impl Compiler<'_> {
    /// Appends the references to outside objects in an argument of that type, which begins at
    /// word `at`.
    fn references(&mut self, ty: TypeId, at: u32, out: &mut Vec<(u32, Reference)>) -> Done {
        match self.program.env.types.get(ty) {
            Type::ArrayReference(AddressSpace::Device | AddressSpace::Constant, of) => out.push((at, Reference::Elements(self.words(of)?))),
            Type::Texture(..) | Type::Sampler => out.push((at, Reference::Opaque)),
            Type::ArrayReference(..) | Type::Pointer(..) => return self.unsupported("a pointer as an argument from outside"),
            Type::Array(of, n) if n > 0 => {
                let mut inner_references = Vec::new();
                deep(|| self.references(of, 0, &mut inner_references))?;
                if !inner_references.is_empty() {
                    return self.unsupported("an array of references as an argument from outside");
                }
            }
            Type::Struct(id) => {
                for (k, field) in self.program.env.structure(id).fields.iter().enumerate() {
                    let offset = self.field_offset(id, k as u32)?;
                    deep(|| self.references(field.ty, at + offset, out))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn unsupported<T>(&self, what: impl Into<String>) -> Done<T> {
        Err(Refusal::unsupported(what, self.span))
    }

    fn limit<T>(&self, what: &'static str, bound: u64) -> Done<T> {
        Err(Refusal::limit(what, bound, self.span))
    }

    /// The size of the type in words.
    fn words(&mut self, ty: TypeId) -> Done<u32> {
        let layout = self.layouts.of(&self.program.env, ty).and_then(words).filter(|n| *n <= MAX_WORDS);
        match layout {
            Some(n) => Ok(n),
            None => self.limit("words of memory of a thread", u64::from(MAX_WORDS)),
        }
    }

    /// The offset of the field in words.
    fn field_offset(&mut self, id: StructId, field: u32) -> Done<u32> {
        let offset = self.layouts.offsets(&self.program.env, id).and_then(|o| o.get(field as usize)).copied();
        match offset.and_then(|o| u32::try_from(o / 4).ok()) {
            Some(o) => Ok(o),
            None => self.limit("words of memory of a thread", u64::from(MAX_WORDS)),
        }
    }

    /// Allocates words of the thread's memory.
    fn allocate(&mut self, n: u32) -> Done<Slot> {
        let at = self.code.words;
        match at.checked_add(n).filter(|end| *end <= MAX_WORDS) {
            Some(end) => {
                self.code.words = end;
                Ok(at)
            }
            None => self.limit("words of memory of a thread", u64::from(MAX_WORDS)),
        }
    }

    /// Words for an intermediate value, until the statement ends.
    fn temporary(&mut self, n: u32) -> Done<Slot> {
        loop {
            let t = &mut self.temporaries;
            match t.chunks.get(t.chunk) {
                Some(chunk) if chunk.n - t.used >= n => {
                    let at = chunk.at + t.used;
                    t.used += n;
                    return Ok(at);
                }
                Some(_) => {
                    t.chunk += 1;
                    t.used = 0;
                }
                None => {
                    let n = n.max(32);
                    let at = self.allocate(n)?;
                    self.temporaries.chunks.push(Words { at, n });
                }
            }
        }
    }

    /// The slot `to` if it is named, or else new words.
    fn or_temporary(&mut self, to: Option<Slot>, n: u32) -> Done<Slot> {
        match to {
            Some(to) => Ok(to),
            None => self.temporary(n),
        }
    }

    /// A word that always holds these bits.
    fn constant(&mut self, bits: u32) -> Done<Slot> {
        if let Some(&at) = self.constants.get(&bits) {
            return Ok(at);
        }
        let at = self.allocate(1)?;
        self.set_image(at, bits);
        self.constants.insert(bits, at);
        self.known_bits.insert(at, bits);
        Ok(at)
    }

    /// Two adjacent words that always hold these bits.
    fn constant_pair(&mut self, first: u32, second: u32) -> Done<Slot> {
        if let Some(&at) = self.pairs.get(&(first, second)) {
            return Ok(at);
        }
        let at = self.allocate(2)?;
        self.set_image(at, first);
        self.set_image(at + 1, second);
        self.pairs.insert((first, second), at);
        Ok(at)
    }

    fn set_image(&mut self, at: Slot, bits: u32) {
        if bits != 0 {
            self.code.image.push((at, bits));
        }
    }

    /// The place of a variable, in the thread's memory or in the threadgroup's.
    fn store(&mut self, id: StoreId) -> Done<Slot> {
        if let Some(&at) = self.stores.get(&id) {
            return Ok(at);
        }
        let store = *self.program.store(id);
        let n = self.words(store.ty)?;
        let at = match store.space {
            AddressSpace::Threadgroup => {
                let at = self.code.group;
                match at.checked_add(n).filter(|end| *end <= MAX_WORDS) {
                    Some(end) => self.code.group = end,
                    None => return self.limit("words of memory of a threadgroup", u64::from(MAX_WORDS)),
                }
                at
            }
            _ => self.allocate(n)?,
        };
        self.stores.insert(id, at);
        Ok(at)
    }

    /// The function for calls. It will be compiled in its turn.
    fn callable(&mut self, id: FunctionId) -> Done<Callable> {
        if let Some(callable) = self.functions.get(&id) {
            return Ok(callable.clone());
        }
        let program = self.program;
        let mut parameters = Vec::new();
        for &store in &program.body(id).parameters {
            let at = self.store(store)?;
            parameters.push(Words { at, n: self.words(program.store(store).ty)? });
        }
        let n = self.words(program.env.function(id).result)?;
        let result = Words { at: self.allocate(n)?, n };
        let callable = Callable { parameters, result, label: self.label() };
        self.functions.insert(id, callable.clone());
        self.todo.push(id);
        Ok(callable)
    }

    fn function(&mut self, id: FunctionId) -> Done {
        let callable = self.callable(id)?;
        self.temporaries = Temporaries::default();
        self.jump_targets = JumpTargets::default();
        self.result = callable.result;
        self.waits = self.may_wait[id.0 as usize];
        self.pending_nodes = 0;
        let block = self.program.body(id).block;
        self.span = self.program.stmt(block).span;
        self.bind(callable.label);
        self.statement(block)?;
        self.span = self.program.env.function(id).span;
        self.emit(if callable.result.n == 0 { Instruction::Return } else { Instruction::Unreachable })?;
        Ok(())
    }

    /// The index of the enum among those whose values are checked.
    fn enumeration(&mut self, id: EnumId) -> u32 {
        let (program, code) = (self.program, &mut self.code);
        *self.enums.entry(id).or_insert_with(|| {
            code.enums.push(Values::new(program.env.enumeration(id).elements.iter().map(|(_, bits)| *bits).collect()));
            code.enums.len() as u32 - 1
        })
    }

    fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    /// Places the label here.
    fn bind(&mut self, label: Label) {
        if let Some(last) = self.code.nodes.last_mut() {
            *last = last.saturating_add(std::mem::take(&mut self.pending_nodes));
        }
        self.labels[label.0 as usize] = self.code.instructions.len() as u32;
    }

    fn emit(&mut self, instruction: Instruction) -> Done<u32> {
        let at = self.code.instructions.len();
        if at >= MAX_INSTRUCTIONS {
            return self.limit("instructions", MAX_INSTRUCTIONS as u64);
        }
        self.code.instructions.push(instruction);
        self.code.spans.push(self.span);
        self.code.nodes.push(std::mem::take(&mut self.pending_nodes));
        Ok(at as u32)
    }

    fn jump(&mut self, label: Label) -> Done {
        self.emit(Instruction::Jump { target: label.0 })?;
        Ok(())
    }

    /// Replaces labels with the indices of instructions.
    fn resolve(&mut self) {
        for instruction in &mut self.code.instructions {
            match instruction {
                Instruction::Call { target } => *target = self.labels[*target as usize],
                other => {
                    if let Some(target) = other.target_mut() {
                        *target = self.labels[*target as usize];
                    }
                }
            }
        }
        for cases in &mut self.code.cases {
            cases.otherwise = self.labels[cases.otherwise as usize];
            for (_, target) in &mut cases.values {
                *target = self.labels[*target as usize];
            }
            cases.values.sort_unstable();
        }
    }

    /// Records that the next instructions belong to an expression.
    fn visit(&mut self, id: ExprId) {
        let expr = self.program.expr(id);
        self.span = expr.span;
        self.pending_nodes += u32::from(!matches!(expr.form, Form::Coerce(..) | Form::Parens(_)));
    }

    fn copy(&mut self, to: Slot, from: Slot, n: u32) -> Done {
        match n {
            0 => {}
            _ if to == from => {}
            1 => _ = self.emit(Instruction::Move { to, from })?,
            n => _ = self.emit(Instruction::Copy { to, from, n })?,
        }
        Ok(())
    }

    fn zero(&mut self, to: Slot, n: u32) -> Done {
        match n {
            0 => {}
            1 => {
                let from = self.constant(0)?;
                self.emit(Instruction::Move { to, from })?;
            }
            n => _ = self.emit(Instruction::Zero { to, n })?,
        }
        Ok(())
    }
}
