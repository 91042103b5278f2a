//! WSL to SPIR-V. An entry point of a typed program becomes a module for Vulkan. The two entry
//! points of a draw become two modules whose interfaces fit.
//!
//! The mapping follows seed 003, rule by rule (`codegen/…` of the registry, [`rules`]). Where
//! WSL's meaning differs from that of the seed's language, WSL's meaning wins. No emitted
//! instruction has an undefined result or undefined behaviour: divisors, shift amounts, indices,
//! conversions and arguments of functions are guarded. Each value that WSL leaves unspecified
//! becomes one of the allowed values, computed once.
//!
//! Pointers and array references never become values of the module. The compiler knows each of them
//! as an object and a path, whose indices are ids (`place`). A function with pointer parameters is
//! emitted once for each choice of objects and paths (`function`). A function that returns a
//! pointer is emitted where it is called.
//!
//! | module | section of seed 003 |
//! |---|---|
//! | `types` | Types |
//! | `resources` | Variables and resources, Buffers, Storage class |
//! | `stage` | Interface variables, Structs: entry points of all stages |
//! | `operators` | Arithmetic, bitwise, comparison, unary operators, Casts |
//! | `expression` | Boolean math operators, Indexing operator, the rest of Expressions |
//! | `place` | Indexing operator of left-values |
//! | `statement` | Control flows |
//! | `function` | Functions, Function parameter |
//! | `library`, `algebra`, `texture` | Intrinsic functions |
//! | `emit`, `planted` | the words of a module; planted bugs that the tests must catch |

mod algebra;
mod debug;
mod emit;
mod expression;
mod function;
mod library;
mod operators;
mod place;
pub mod planted;
mod resources;
mod stage;
mod statement;
mod texture;
mod types;

use crate::dispatch::BufferKind;
pub use stage::{DrawModules, StageVariable, translate_draw};

use debug::Debug;
use emit::{Emitter, Id, push, string};
use function::{Clones, Key};
use place::{Root, Value, VariableMeaning};
use planted::Planted;
use rspirv::spirv::{AddressingModel, Decoration, MAGIC_NUMBER, MemoryModel, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::image::{Compare, Filter, Format, Sampler, Shape};
use smallstep_semantics::number::Profile;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::float_controls;
use smallstep_semantics::text::Span;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::types::TypeId;
use smallstep_semantics::wsl::typing::program::{Program, StoreId};
use stage::{Interface, Shell};
use std::collections::{BTreeSet, VecDeque};
use texture::Textures;

/// The rules of the mapping: those of the registry with the codegen judgement.
pub fn rules() -> impl Iterator<Item = Rule> {
    Rule::ALL.iter().copied().filter(|rule| rule.judgement() == Judgement::Codegen)
}

/// The version of the modules: SPIR-V 1.3, which Vulkan 1.1 accepts.
pub const VERSION: u32 = 0x0001_0300;
/// The most words of a module.
const MAX_WORDS: usize = 1 << 22;

/// The options of a translation.
#[derive(Clone, Copy, Debug)]
pub struct Options<'p> {
    /// The float controls that the module declares.
    pub profile: Profile,
    /// A planted bug in the mapping, for tests.
    pub planted: Option<&'p Planted>,
    /// Whether [`Module::witness`] is recorded.
    pub witness: bool,
    /// The name and the text of the source file. If it is given, each statement has an OpLine.
    pub source: Option<(&'p str, &'p str)>,
    /// The formats of the images that are bound to writable textures, by register. A texture
    /// without an entry has 32 bits for each component of its elements.
    pub formats: &'p [(String, Format)],
    /// Whether the module has debug information instead of OpLine. It needs a source.
    pub debug: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { profile: Profile::Strict, planted: None, witness: false, source: None, formats: &[], debug: false }
    }
}

/// A resource of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The register in the program, such as `u0` or `u0, space1`.
    pub register: String,
    /// The names of the arguments that use the register.
    pub names: Vec<String>,
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The kind of resource.
    pub kind: BindingKind,
}

/// The kind of resource at a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// A buffer: its kind, and the type of its elements.
    Buffer(BufferKind, TypeId),
    /// A texture that is sampled and fetched: its type, and the shape of its image in the module.
    Sampled(TypeId, Shape),
    /// A texture that is read and written: its type, and the shape and format of its image.
    Storage(TypeId, Shape, Format),
    /// A sampler, and its use.
    Sampler(SamplerUse),
}

/// The use of a sampler. A sampler that does not suit its use gives unspecified values in WSL and
/// undefined values in SPIR-V. So each use has a binding of its own, and the host binds a sampler
/// that suits it ([`SamplerUse::fitting`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SamplerUse {
    /// It filters or gathers textures of floats.
    Filter,
    /// It chooses texels of integer textures, without filtering.
    Choose,
    /// It compares depths with a reference.
    Compare,
}

impl SamplerUse {
    /// The sampler to bind for this use in place of `sampler`: the same one, if it suits the use.
    pub fn fitting(self, sampler: Sampler) -> Sampler {
        // With lod_max < lod_min, WSL allows any level, but the level is undefined in SPIR-V.
        let lod_max = if sampler.lod_max >= sampler.lod_min { sampler.lod_max } else { sampler.lod_min };
        let sampler = Sampler { lod_max, ..sampler };
        match self {
            SamplerUse::Filter => Sampler { compare: None, ..sampler },
            SamplerUse::Choose => Sampler { compare: None, mag: Filter::Nearest, min: Filter::Nearest, mip: Filter::Nearest, ..sampler },
            SamplerUse::Compare => Sampler { compare: sampler.compare.or(Some(Compare::Always)), ..sampler },
        }
    }
}

impl Binding {
    /// The type of the elements of a buffer. `None` for textures and samplers.
    pub fn element(&self) -> Option<TypeId> {
        match self.kind {
            BindingKind::Buffer(_, element) => Some(element),
            BindingKind::Sampled(..) | BindingKind::Storage(..) | BindingKind::Sampler(_) => None,
        }
    }
}

/// A statement or expression with its id in the module. If its function is emitted several times,
/// it has several witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The span in the source.
    pub span: Span,
    /// The type of an expression. `None` for a statement.
    pub ty: Option<TypeId>,
    /// The result id of an expression, or the label of the block in which a statement begins.
    pub id: u32,
    /// The rule that made the id.
    pub rule: Rule,
}

/// A translated program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The words of the SPIR-V module.
    pub words: Vec<u32>,
    /// The name of the entry point.
    pub entry: String,
    /// The resources: first the buffers in the order of the entry point's arguments, then the
    /// textures and samplers in the order of their first use. An unused texture or sampler has
    /// no binding.
    pub bindings: Vec<Binding>,
    /// The user-defined inputs of a vertex or fragment stage, in the order of their locations.
    pub taken: Vec<StageVariable>,
    /// The user-defined outputs of a vertex stage, in the order of their locations.
    pub given: Vec<StageVariable>,
    /// The buffers that the module stores to, by set and binding.
    pub stores: BTreeSet<(u32, u32)>,
    /// The number of instructions that each rule of the mapping has emitted.
    pub rules: Vec<(Rule, u32)>,
    /// Statements and expressions in the order of emission, if [`Options::witness`] asks for them.
    pub witness: Vec<Witness>,
}

/// A construct that validation accepts and the translation refuses. docs/wsl.md lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Construct {
    /// `discard` in a function that is translated by itself, into a compute stage.
    Discard,
    /// A derivative in a function that is translated by itself, into a compute stage.
    Derivative,
    /// A texture or sampler as an argument of a function that is translated by itself.
    Opaque,
    /// An array reference to a pointer, texture or sampler, or a pointer to a structure with a
    /// texture or sampler as an argument.
    Reference,
    /// An assignment of a pointer or array reference, or of a structure with one. Operators and
    /// setters that the program declares assign these.
    Change,
    /// A writable texture with a format that no storage image has.
    Format,
    /// Stages of a draw that do not fit together.
    Stages,
    /// A draw of which one stage stores in a resource that the other stage uses.
    Unordered,
    /// Too many scalars in a row of a table.
    Scalars,
    /// Too many functions.
    Functions,
    /// Too many words.
    Words,
}

impl Construct {
    /// All constructs, in the order of the list in docs/wsl.md.
    pub const ALL: &[Construct] = &[
        Construct::Discard,
        Construct::Derivative,
        Construct::Opaque,
        Construct::Reference,
        Construct::Change,
        Construct::Format,
        Construct::Stages,
        Construct::Unordered,
        Construct::Scalars,
        Construct::Functions,
        Construct::Words,
    ];

    /// The two columns of the list: the construct, and why it is refused.
    pub fn listed(self) -> (&'static str, &'static str) {
        match self {
            Construct::Discard => ("`discard` in a function that is translated by itself", "the module is a compute stage"),
            Construct::Derivative => ("a derivative in a function that is translated by itself", "the module is a compute stage"),
            Construct::Opaque => {
                ("a texture or sampler as an argument of a function that is translated by itself", "a table of arguments holds numbers")
            }
            Construct::Reference => (
                "`@x` of a pointer, texture or sampler, and `&x` of a structure with a texture or sampler as an argument",
                "pointers, textures and samplers are no objects in memory",
            ),
            Construct::Change => (
                "`p += q` and other assignments of pointers or array references, or of structures with one",
                "the translation follows no change of these",
            ),
            Construct::Format => ("a texture that is written, bound to an image of a format that no storage image has", "Vulkan"),
            Construct::Stages => {
                ("an entry point as another stage of a draw, or an attribute that the stages have different types of", "no draw has it")
            }
            Construct::Unordered => {
                ("a draw of which one stage stores in a buffer or texture that the other one uses", "Vulkan does not order the stages")
            }
            Construct::Scalars => ("arguments or results of more than 4,096 scalars of a function that is translated by itself", "size"),
            Construct::Functions => ("a program of more than 4,096 functions, each for other objects", "size"),
            Construct::Words => ("a program of more than 4,194,304 words of SPIR-V", "size"),
        }
    }
}

/// The reason why a program is not translated, with its place. It displays as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The construct, in words.
    pub what: String,
    /// The span in the source.
    pub span: Span,
    /// The refused construct. `None` means a bug of the compiler: no program that validation
    /// accepts can lead here.
    pub construct: Option<Construct>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not translated to SPIR-V yet", self.what)
    }
}

impl std::error::Error for Refusal {}

type Done<T = ()> = Result<T, Refusal>;

/// The targets of terminators at the current place of the emitted function.
#[derive(Clone, Copy, Debug, Default)]
struct BranchTargets {
    breaks: Option<Id>,
    continues: Option<Id>,
    fallthrough: Option<Fallthrough>,
    /// The number of enclosing ifs, loops and switches.
    depth: u32,
}

/// The target of `fallthrough`, and the case number that is stored before the branch.
#[derive(Clone, Copy, Debug)]
struct Fallthrough {
    to: Id,
    next: Option<(Root, Id)>,
}

/// The effect of `return`.
#[derive(Clone, Debug)]
enum Returns {
    /// It ends the function.
    Ends,
    /// It gives the value of a call that is emitted in place. `None` before the `return`.
    Gives(Option<Value>),
}

/// The state of a translation.
struct Compiler<'a> {
    program: &'a Program,
    layouts: Layouts,
    e: Emitter<'a>,
    /// The SPIR-V types of WSL types. The flag says whether the type has the layout of buffers.
    types: FxHashMap<(TypeId, bool), Id>,
    /// The variables and parameters of the function that is being emitted.
    stores: FxHashMap<StoreId, VariableMeaning>,
    /// Threadgroup variables, and variables that outlive their functions.
    globals: FxHashMap<StoreId, VariableMeaning>,
    /// The variables of storage class Workgroup, with the types of their contents.
    group: Vec<(Id, TypeId)>,
    stage: Interface,
    bindings: Vec<Binding>,
    /// The variable of each binding, in the same order.
    variables: Vec<Id>,
    /// The variables that the module stores to.
    stored: FxHashSet<Id>,
    /// Further variables of a buffer binding: the index in `bindings`, the element type, the kind
    /// of buffer and the variable.
    aliases: Vec<(usize, TypeId, BufferKind, Id)>,
    clones: Clones,
    todo: VecDeque<Key>,
    /// Functions that return pointers, array references, textures or samplers.
    escaping: FxHashSet<FunctionId>,
    /// In a fragment stage, the variables that hold results of atomic functions and are never read.
    unread: FxHashSet<StoreId>,
    /// The textures and samplers of the entry point.
    textures: Textures,
    /// [`Options::formats`].
    formats: &'a [(String, Format)],
    branch_targets: BranchTargets,
    returns: Returns,
    span: Span,
    witness: Option<Vec<Witness>>,
    /// The id of the file's name, and the byte at which each line begins.
    lines: Option<(Id, Vec<u32>)>,
    /// The text of the source file.
    text: &'a str,
    debug: Option<Debug>,
}

/// Translates an entry point of a program. The stage variables of a draw have their attribute
/// numbers as locations, as far as these are below 16 and do not collide. So stages that are
/// translated separately mostly fit. [`translate_draw`] makes two stages that always fit.
///
/// # Errors
/// The program has a construct that is not translated.
pub fn translate(program: &Program, entry: &EntryPoint, options: &Options) -> Result<Module, Refusal> {
    stage::translate_alone(program, entry, options)
}

/// Translates a function that is not an entry point. A compute entry point `main` calls it once for
/// each row of a table. Set 0, binding 0 holds the scalars of the arguments, each one word, row
/// after row. Binding 1 receives the scalars of the results. Each workgroup is one invocation and
/// computes one row. For a pointer, the table holds the pointee. For an array reference as a
/// result, it holds the length. Pointers and array references into device and constant memory have
/// bindings of their own.
///
/// # Errors
/// The program has a construct that is not translated.
pub fn translate_function(program: &Program, function: FunctionId, options: &Options) -> Result<Module, Refusal> {
    let mut c = Compiler::new(program, program.env.function(function).span, options);
    let main = c.table_entry_point(function)?;
    c.finish(&Shell::compute(main, "main", [1; 3]), options)
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Program, span: Span, options: &Options<'a>) -> Compiler<'a> {
        let mut e = Emitter::new(options.planted);
        let lines = options.source.map(|(name, text)| {
            let begins = text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
            (e.string(name), std::iter::once(0).chain(begins).collect())
        });
        let mut compiler = Compiler {
            program,
            layouts: Layouts::default(),
            e,
            witness: options.witness.then(Vec::new),
            lines,
            types: FxHashMap::default(),
            stores: FxHashMap::default(),
            globals: FxHashMap::default(),
            group: Vec::new(),
            stage: Interface::default(),
            bindings: Vec::new(),
            variables: Vec::new(),
            stored: FxHashSet::default(),
            aliases: Vec::new(),
            clones: Clones::default(),
            todo: VecDeque::new(),
            escaping: FxHashSet::default(),
            unread: FxHashSet::default(),
            textures: Textures::default(),
            formats: options.formats,
            branch_targets: BranchTargets::default(),
            returns: Returns::Ends,
            span,
            text: options.source.map_or("", |(_, text)| text),
            debug: None,
        };
        let results = (0..).zip(&program.env.functions);
        compiler.escaping = results.filter(|(_, f)| compiler.is_known(f.result)).map(|(i, _)| FunctionId(i)).collect();
        if let (Some((name, text)), true) = (options.source, options.debug) {
            compiler.debug_begins(name, text);
        }
        compiler
    }
}

impl Compiler<'_> {
    fn refuse<T>(&self, construct: Construct, what: impl Into<String>) -> Done<T> {
        Err(Refusal { what: what.into(), span: self.span, construct: Some(construct) })
    }

    /// Refuses a construct that no valid program has: a bug of the compiler.
    fn unforeseen<T>(&self, what: impl Into<String>) -> Done<T> {
        Err(Refusal { what: what.into(), span: self.span, construct: None })
    }

    fn too_large<T>(&self) -> Done<T> {
        self.refuse(Construct::Words, format!("a program of more than {MAX_WORDS} words of SPIR-V"))
    }

    /// Checks that there is room for more code.
    fn check_room(&self) -> Done {
        if self.e.words() > MAX_WORDS { self.too_large() } else { Ok(()) }
    }

    /// Records the source line of the instructions that follow.
    fn line(&mut self) {
        let (line, column) = self.place_of_byte(self.span.start);
        if self.debug.is_some() {
            self.debug_line();
        } else if let Some((file, _)) = &self.lines {
            self.e.line(*file, line, column);
        }
    }

    /// The line and column of a byte of the source, both from 1. The column counts bytes.
    fn place_of_byte(&self, at: u32) -> (u32, u32) {
        let Some((_, begins)) = &self.lines else { return (1, 1) };
        let line = begins.partition_point(|begin| *begin <= at);
        let begin = begins.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line as u32, at.saturating_sub(begin) + 1)
    }

    /// The name that the source has at the start of a span. Empty if there is none.
    fn text_of(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    }

    /// Builds the module from the emitted sections.
    fn finish(mut self, shell: &Shell, options: &Options) -> Done<Module> {
        self.e.uses(Rule::CodegenHeader);
        let controls = options.profile.controls();
        if controls.no_contraction {
            for id in std::mem::take(&mut self.e.arithmetic) {
                self.e.decorate(id, Decoration::NoContraction, &[]);
            }
        }
        let mut words = vec![MAGIC_NUMBER, VERSION, 0, self.e.bound(), 0];
        for &capability in &self.e.capabilities {
            push(&mut words, Op::Capability, &[capability]);
        }
        for control in controls.modes() {
            push(&mut words, Op::Capability, &[control.capability as u32]);
        }
        for capability in self.textures.capabilities() {
            push(&mut words, Op::Capability, &[capability as u32]);
        }
        if controls.modes().next().is_some() {
            push(&mut words, Op::Extension, &string(float_controls::EXTENSION));
        }
        if self.debug.is_some() {
            push(&mut words, Op::Extension, &string(debug::EXTENSION));
        }
        let imports = [Some((self.e.glsl, "GLSL.std.450")), self.debug.as_ref().map(|debug| (debug.set, debug::SET))];
        for (id, set) in imports.into_iter().flatten() {
            let mut import = vec![id];
            import.extend(string(set));
            push(&mut words, Op::ExtInstImport, &import);
        }
        push(&mut words, Op::MemoryModel, &[AddressingModel::Logical as u32, MemoryModel::GLSL450 as u32]);
        let mut interface = vec![shell.model as u32, shell.main];
        interface.extend(string(&shell.name));
        interface.extend(&self.stage.variables);
        push(&mut words, Op::EntryPoint, &interface);
        for mode in &shell.modes {
            let operands: Vec<u32> = std::iter::once(shell.main).chain(mode.iter().copied()).collect();
            push(&mut words, Op::ExecutionMode, &operands);
        }
        for control in controls.modes() {
            push(&mut words, Op::ExecutionMode, &[shell.main, control.mode as u32, 32]);
        }
        for section in [&self.e.strings, &self.e.names, &self.e.decorations, &self.e.globals, &self.e.functions] {
            words.extend_from_slice(section);
        }
        if words.len() > MAX_WORDS {
            return self.too_large();
        }
        let counts = self.e.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(k, n)| (Rule::ALL[k], *n)).collect();
        let is_stored = |k: usize, id: &Id| {
            let mut aliases = self.aliases.iter().filter(|alias| alias.0 == k);
            self.stored.contains(id) || aliases.any(|alias| self.stored.contains(&alias.3))
        };
        let stores = self.bindings.iter().zip(&self.variables).enumerate().filter(|&(k, (_, id))| is_stored(k, id));
        let stores = stores.map(|(_, (binding, _))| (binding.set, binding.binding)).collect();
        Ok(Module {
            words,
            entry: shell.name.clone(),
            stores,
            bindings: self.bindings,
            taken: self.stage.inputs,
            given: self.stage.outputs,
            rules: counts,
            witness: self.witness.unwrap_or_default(),
        })
    }
}
