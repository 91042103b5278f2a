//! Instructions as words: the sections of a module, declarations without duplicates, and the
//! function that is being emitted. Every instruction goes through [`Emitter::write`], where a
//! planted bug may change it.

use super::planted::{Change, Planted};
use rspirv::spirv::{Capability, Decoration, GlslStd450Op as Glsl, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::rule::Rule;
use smallvec::SmallVec;
use std::collections::BTreeSet;

pub(super) use smallstep_semantics::spirv::write::{Id, push, string};

/// Operands of an instruction.
pub(super) type Operands = SmallVec<[u32; 8]>;

/// The code of a function that is being emitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// The OpVariable instructions.
    pub variables: Vec<u32>,
    /// The instructions after the variables, from the first block on.
    pub code: Vec<u32>,
    /// The label of the block that is being emitted.
    pub block: Id,
    /// Whether that block has no terminator yet.
    pub open: bool,
    /// The labels that some branch targets.
    pub reached: FxHashSet<Id>,
    /// The number of continue constructs around the block.
    pub continuing: u32,
}

/// The section that an instruction is appended to.
#[derive(Clone, Copy, Debug)]
enum Section {
    /// The function that is being emitted.
    Body,
    /// [`Emitter::globals`].
    Globals,
    /// [`Emitter::decorations`].
    Decorations,
}

/// Sections of a module.
#[derive(Debug)]
pub(super) struct Emitter<'p> {
    /// The next free id.
    next: Id,
    /// The rule whose instructions are emitted.
    pub rule: Rule,
    /// The number of instructions that each rule has emitted, by index in the registry.
    pub counts: Vec<u32>,
    planted: Option<&'p Planted>,
    /// OpString.
    pub strings: Vec<u32>,
    texts: FxHashMap<String, Id>,
    /// OpName.
    pub names: Vec<u32>,
    /// Decorations.
    pub decorations: Vec<u32>,
    /// Types, constants, variables of the module.
    pub globals: Vec<u32>,
    /// Finished functions.
    pub functions: Vec<u32>,
    /// The function that is being emitted.
    pub body: Body,
    /// GLSL.std.450.
    pub glsl: Id,
    /// The results of float arithmetic, which NoContraction may decorate.
    pub arithmetic: Vec<Id>,
    declared: FxHashMap<(u32, Operands), Id>,
    integers: FxHashMap<Id, u32>,
    /// The operands of each OpCompositeConstruct, by result.
    constructed: FxHashMap<Id, Operands>,
    /// The rule that made each id, by id.
    rules: Vec<Rule>,
    /// The capabilities that the emitted instructions need.
    pub capabilities: BTreeSet<u32>,
}

/// The most bytes of an OpString.
const MAX_TEXT: usize = 0xfff0 * 4;

/// Whether NoContraction may decorate the instruction. All of these are of floats.
fn is_contractible(op: Op) -> bool {
    matches!(op, Op::FNegate | Op::FAdd | Op::FSub | Op::FMul | Op::FDiv)
}

impl<'p> Emitter<'p> {
    pub(super) fn new(planted: Option<&'p Planted>) -> Emitter<'p> {
        Emitter {
            next: 2,
            rule: Rule::CodegenHeader,
            counts: vec![0; Rule::ALL.len()],
            planted,
            strings: Vec::new(),
            texts: FxHashMap::default(),
            names: Vec::new(),
            decorations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            body: Body::default(),
            glsl: 1,
            arithmetic: Vec::new(),
            declared: FxHashMap::default(),
            integers: FxHashMap::default(),
            constructed: FxHashMap::default(),
            rules: Vec::new(),
            capabilities: BTreeSet::from([Capability::Shader as u32]),
        }
    }

    /// A new id.
    pub(super) fn fresh(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// The bound of the module's ids.
    pub(super) fn bound(&self) -> u32 {
        self.next
    }

    /// The number of words so far, without the smaller sections.
    pub(super) fn words(&self) -> usize {
        self.body.code.len() + self.functions.len() + self.globals.len()
    }

    /// Sets the current rule. Returns the one before.
    pub(super) fn enter(&mut self, rule: Rule) -> Rule {
        std::mem::replace(&mut self.rule, rule)
    }

    /// Counts a use of a rule that emits nothing.
    pub(super) fn uses(&mut self, rule: Rule) {
        self.counts[rule as usize] += 1;
    }

    /// Whether a planted bug demands the literal rule of seed 003.
    pub(super) fn is_letter(&self, rule: Rule) -> bool {
        self.planted.is_some_and(|bug| bug.rule == rule && bug.change == Change::Letter)
    }

    /// Appends an instruction to a section, with its result type and result.
    fn write(&mut self, to: Section, op: Op, result: Option<(Option<Id>, Id)>, operands: &[u32]) {
        self.counts[self.rule as usize] += 1;
        if matches!(op, Op::DPdxFine | Op::DPdyFine | Op::FwidthFine | Op::DPdxCoarse | Op::DPdyCoarse | Op::FwidthCoarse) {
            self.capabilities.insert(Capability::DerivativeControl as u32);
        }
        let changed;
        let (op, operands) = match self.planted.filter(|bug| bug.rule == self.rule) {
            None => (op, operands),
            Some(bug) => match bug.change.applied(op, operands, result.is_some()) {
                None => return,
                Some((op, other)) => {
                    changed = other;
                    (op, &changed[..])
                }
            },
        };
        let words = match to {
            Section::Body => &mut self.body.code,
            Section::Globals => &mut self.globals,
            Section::Decorations => &mut self.decorations,
        };
        let (ty, id) = result.map_or((None, None), |(ty, id)| (ty, Some(id)));
        let count = 1 + u32::from(ty.is_some()) + u32::from(id.is_some()) + operands.len() as u32;
        words.push(count << 16 | op as u32);
        words.extend(ty.into_iter().chain(id));
        words.extend_from_slice(operands);
        if let Some(id) = id {
            if self.rules.len() <= id as usize {
                self.rules.resize(id as usize + 1, Rule::CodegenHeader);
            }
            self.rules[id as usize] = self.rule;
        }
    }

    /// Appends an instruction with a result to the block.
    pub(super) fn op(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        if is_contractible(op) {
            self.arithmetic.push(id);
        }
        match (op, operands) {
            (Op::CompositeConstruct, parts) => _ = self.constructed.insert(id, parts.into()),
            (Op::SNegate, [of]) => {
                if let Some(&bits) = self.integers.get(of) {
                    self.integers.insert(id, bits.wrapping_neg());
                }
            }
            _ => {}
        }
        self.write(Section::Body, op, Some((Some(ty), id)), operands);
        id
    }

    /// The operands of the OpCompositeConstruct that made a value. `None` for other values.
    pub(super) fn parts(&self, id: Id) -> Option<Vec<Id>> {
        self.constructed.get(&id).map(|parts| parts.to_vec())
    }

    /// Appends a call of a function of GLSL.std.450.
    pub(super) fn glsl(&mut self, function: Glsl, ty: Id, arguments: &[Id]) -> Id {
        let mut operands = Operands::from_slice(&[self.glsl, function as u32]);
        operands.extend_from_slice(arguments);
        self.op(Op::ExtInst, ty, &operands)
    }

    /// Appends an instruction without a result to the block.
    pub(super) fn effect(&mut self, op: Op, operands: &[u32]) {
        self.write(Section::Body, op, None, operands);
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, label: Id) {
        push(&mut self.body.code, Op::Label, &[label]);
        (self.body.block, self.body.open) = (label, true);
    }

    /// Ends the block.
    pub(super) fn end(&mut self, op: Op, operands: &[u32]) {
        self.effect(op, operands);
        self.body.open = false;
    }

    /// Ends the block with a branch, unless it has ended.
    pub(super) fn branch(&mut self, to: Id) {
        if self.body.open {
            self.body.reached.insert(to);
            self.end(Op::Branch, &[to]);
        }
    }

    /// Declares a type or constant. An equal declaration is made once.
    pub(super) fn declare(&mut self, op: Op, ty: Option<Id>, operands: &[u32]) -> Id {
        let mut key = Operands::from_slice(operands);
        if let Some(ty) = ty {
            key.push(ty);
        }
        let key = (op as u32, key);
        if let Some(&id) = self.declared.get(&key) {
            return id;
        }
        let id = self.declare_new(op, ty, operands);
        self.declared.insert(key, id);
        id
    }

    /// Makes a declaration of its own, even if an equal one exists.
    pub(super) fn declare_new(&mut self, op: Op, ty: Option<Id>, operands: &[u32]) -> Id {
        let id = self.fresh();
        self.write(Section::Globals, op, Some((ty, id)), operands);
        id
    }

    /// A decoration of an id.
    pub(super) fn decorate(&mut self, id: Id, decoration: Decoration, more: &[u32]) {
        let mut operands = Operands::from_slice(&[id, decoration as u32]);
        operands.extend_from_slice(more);
        self.write(Section::Decorations, Op::Decorate, None, &operands);
    }

    /// A decoration of a structure's member.
    pub(super) fn decorate_member(&mut self, id: Id, member: u32, decoration: Decoration, more: &[u32]) {
        let mut operands = Operands::from_slice(&[id, member, decoration as u32]);
        operands.extend_from_slice(more);
        self.write(Section::Decorations, Op::MemberDecorate, None, &operands);
    }

    /// The rule that made an id.
    pub(super) fn rule_of(&self, id: Id) -> Rule {
        self.rules.get(id as usize).copied().unwrap_or(Rule::CodegenHeader)
    }

    /// States the source line of the instructions that follow.
    pub(super) fn line(&mut self, file: Id, line: u32, column: u32) {
        push(&mut self.body.code, Op::Line, &[file, line, column]);
    }

    /// The OpString of a text, made once. A text that is too long for an instruction is cut.
    pub(super) fn string(&mut self, text: &str) -> Id {
        let mut end = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default();
        if let Some(&id) = self.texts.get(text) {
            return id;
        }
        let id = self.fresh();
        let mut operands = vec![id];
        operands.extend(string(text));
        push(&mut self.strings, Op::String, &operands);
        self.texts.insert(text.into(), id);
        id
    }

    /// Gives an id a name, for human readers.
    pub(super) fn name(&mut self, id: Id, name: &str) {
        let mut operands = vec![id];
        operands.extend(string(name));
        push(&mut self.names, Op::Name, &operands);
    }

    /// A 32-bit constant of an integer or float type.
    pub(super) fn constant(&mut self, ty: Id, bits: u32) -> Id {
        let saved = self.enter(Rule::CodegenConstant);
        let id = self.declare(Op::Constant, Some(ty), &[bits]);
        self.rule = saved;
        self.integers.insert(id, bits);
        id
    }

    /// The bits of a constant that [`Emitter::constant`] made, or of its negation. `None` for
    /// other ids.
    pub(super) fn bits(&self, id: Id) -> Option<u32> {
        self.integers.get(&id).copied()
    }
}
