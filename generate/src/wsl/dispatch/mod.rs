//! Compute dispatches that have no races by construction, and dispatches with one planted race. A
//! seed determines the text, the groups and the contents of the buffers.
//!
//! Threads share arrays: threadgroup variables, and device buffers of which every group has a part
//! of its own. An array has one use between two barriers that fence it. The use is drawn with the
//! barrier. Either every thread has elements of its own, or all threads read all elements, or the
//! first threads have elements of their own and all threads read the rest. Elements of atomics have
//! similar uses. Either each is changed only by one commuting operation, whose old value nothing
//! uses, or all are read, or each belongs to one thread. Barriers stand in uniform control flow.
//! Their conditions depend on a constant buffer, on the group's position, and on counters of loops
//! that are uniform themselves. So every schedule shows the same values, and every thread reaches
//! every barrier.
//!
//! Operations are unspecified only if the shape asks for it. Otherwise divisors are not 0, indices
//! are below lengths, and there are no minima and no conversions of floats.
//!
//! | file | what it makes |
//! |---|---|
//! | `expressions` | values, conditions, elements that may be read |
//! | `statements` | what a thread does between barriers |
//! | `uniform` | barriers and what is around them, called functions, the planted race |

mod expressions;
mod statements;
mod uniform;

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::group::Resource;
use smallstep_semantics::wsl::typing::program::Program;
use std::ops::Range;

/// The version of the generator. Another version may make another dispatch of the same seed.
pub const VERSION: u32 = 1;

/// A dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The program: one compute entry point, `main`.
    pub text: String,
    /// The number of groups in each direction.
    pub groups: [u32; 3],
    /// The initial words of each buffer, by its name in the program.
    pub buffers: Vec<(String, Vec<u32>)>,
    /// The byte range of the racing accesses in the text. `None` in a program without races.
    pub race: Option<Range<usize>>,
}

impl Dispatch {
    /// The buffers of the entry point with the contents of this dispatch.
    ///
    /// # Errors
    /// If the entry point takes other buffers. The dispatch's own entry point does not.
    pub fn bind(&self, program: &Program, entry: &EntryPoint) -> Result<Vec<Resource>, InvalidInput> {
        let mut resources = Resource::of(program, entry)?;
        for buffer in &mut resources {
            let contents = self.buffers.iter().find(|(name, _)| *name == buffer.name);
            buffer.fill(
                &contents.ok_or_else(|| InvalidInput::new(InputFault::Missing, format!("nothing is given for `{}`", buffer.name)))?.1,
            );
        }
        Ok(resources)
    }
}

/// The size and the features of generated dispatches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Whether every schedule is to be tried: at most three threads, and few accesses of
    /// shared memory.
    pub small: bool,
    /// Whether the program has about 30 statements, rather than some hundreds.
    pub short: bool,
    /// Whether a race is planted.
    pub race: bool,
    /// Whether some operations on a thread's own values are unspecified.
    pub open: bool,
}

/// A dispatch of up to some dozens of threads. In one of four, operations are unspecified.
pub fn dispatch(seed: u64) -> Dispatch {
    of(seed, Shape { open: seed % 4 == 3, ..Shape::default() })
}

/// A dispatch like [`dispatch`], with about 30 statements.
pub fn short(seed: u64) -> Dispatch {
    of(seed, Shape { short: true, open: seed % 4 == 3, ..Shape::default() })
}

/// A dispatch of two or three threads with few accesses of shared memory, so that all orders of the
/// accesses can be tried.
pub fn small(seed: u64) -> Dispatch {
    of(seed, Shape { small: true, ..Shape::default() })
}

/// A dispatch whose accesses race, at a place that every thread reaches.
pub fn racy(seed: u64) -> Dispatch {
    of(seed, Shape { race: true, ..Shape::default() })
}

/// A dispatch like [`racy`], with about 30 statements.
pub fn short_racy(seed: u64) -> Dispatch {
    of(seed, Shape { short: true, race: true, ..Shape::default() })
}

/// A dispatch of a shape.
pub fn of(seed: u64, shape: Shape) -> Dispatch {
    Generator::new(seed, shape).into_dispatch()
}

/// The kind of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Uint,
    Int,
    Float,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Uint, Kind::Int, Kind::Float];

    fn name(self) -> &'static str {
        match self {
            Kind::Uint => "uint",
            Kind::Int => "int",
            Kind::Float => "float",
        }
    }
}

/// An element type of an array: its name, its scalars (suffix, kind and index of the word), and its
/// size in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Element {
    ty: &'static str,
    leaves: &'static [(&'static str, Kind, usize)],
    words: usize,
}

const ELEMENTS: [Element; 7] = [
    Element { ty: "uint", leaves: &[("", Kind::Uint, 0)], words: 1 },
    Element { ty: "int", leaves: &[("", Kind::Int, 0)], words: 1 },
    Element { ty: "float", leaves: &[("", Kind::Float, 0)], words: 1 },
    Element { ty: "uint2", leaves: &[(".x", Kind::Uint, 0), (".y", Kind::Uint, 1)], words: 2 },
    Element { ty: "int3", leaves: &[(".x", Kind::Int, 0), (".y", Kind::Int, 1), (".z", Kind::Int, 2)], words: 4 },
    Element { ty: "float4", leaves: &[(".x", Kind::Float, 0), (".z", Kind::Float, 2), (".w", Kind::Float, 3)], words: 4 },
    Element { ty: "Cell", leaves: &[(".count", Kind::Uint, 0), (".at.x", Kind::Float, 2), (".at.y", Kind::Float, 3)], words: 4 },
];

/// The threads that access the elements of an array between two barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// Each thread has the elements of the thread this number of places further on.
    Shifted(u32),
    /// Each thread has the elements of the thread at the same distance from the other end.
    Reversed,
    /// All threads read all elements.
    All,
    /// This number of first threads have elements of their own. All threads read the rest.
    Front(u32),
}

/// An array that threads share.
#[derive(Clone, Debug)]
struct Array {
    name: String,
    element: Element,
    /// Whether it is in device memory. If so, each group has a part of it.
    device: bool,
    /// The number of elements of each thread.
    each: u32,
    using: Use,
}

/// An array of atomics that threads share. `using` says which threads change them.
#[derive(Clone, Debug)]
struct Atomics {
    name: String,
    /// Whether it is in device memory. If so, all groups share it, and no thread reads it.
    device: bool,
    kind: Kind,
    /// The operation of each element while all threads change it.
    operations: Vec<&'static str>,
    using: AtomicUse,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AtomicUse {
    /// All threads change any element, by the operation of that element.
    Commuting,
    /// All threads read any element, by an operation that changes nothing.
    Read,
    /// Each thread has one element, as long as there are enough.
    Own,
}

/// A variable.
#[derive(Clone, Debug)]
struct Local {
    name: String,
    kind: Kind,
    writable: bool,
}

struct Generator {
    seed: u64,
    draw_count: u64,
    shape: Shape,
    /// The threads of a group in each direction, and the groups.
    size: [u32; 3],
    groups: [u32; 3],
    arrays: Vec<Array>,
    atomics: Vec<Atomics>,
    /// The functions written so far, by name and result. Each takes a `uint`, an `int` and
    /// a `float`.
    functions: Vec<(String, Kind)>,
    locals: Vec<Local>,
    /// The thread's own arrays of four elements, by name and element kind.
    private_arrays: Vec<(String, Kind)>,
    text: String,
    indent: usize,
    next: u32,
    /// The number of statements that may still be written.
    statements_left: isize,
    /// The number of accesses of shared memory that a thread may still make, for small shapes.
    accesses: isize,
    /// Whether shared memory may be accessed here.
    may_share_memory: bool,
    race: Option<Range<usize>>,
}

/// The number of words in the constant buffer `given`. Uniform control flow depends on it.
const UNIFORM_WORDS: u32 = 4;
/// The number of elements of each kind that every thread stores at its end.
const RESULTS_PER_THREAD: usize = 2;

impl Generator {
    fn new(seed: u64, shape: Shape) -> Generator {
        Generator {
            seed,
            draw_count: 0,
            shape,
            size: [1; 3],
            groups: [1; 3],
            arrays: Vec::new(),
            atomics: Vec::new(),
            functions: Vec::new(),
            locals: Vec::new(),
            private_arrays: Vec::new(),
            text: String::new(),
            indent: 0,
            next: 0,
            statements_left: 0,
            accesses: 0,
            may_share_memory: false,
            race: None,
        }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.draw_count += 1;
        Strategy::Random(self.seed).choose(u32::MAX, self.draw_count, u64::from(n)).unwrap_or(0) as u32
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A block after a head. Its variables go out of scope at its end.
    fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        let (locals, own) = (self.locals.len(), self.private_arrays.len());
        self.line(&format!("{head} {{"));
        self.indent += 1;
        inside(self);
        self.indent -= 1;
        self.line("}");
        self.locals.truncate(locals);
        self.private_arrays.truncate(own);
    }

    /// The number of threads in a group.
    fn threads(&self) -> u32 {
        self.size.iter().product()
    }

    fn group_count(&self) -> u32 {
        self.groups.iter().product()
    }

    fn into_dispatch(mut self) -> Dispatch {
        self.grid();
        self.shared();
        self.program();
        let buffers = self.contents();
        Dispatch { text: self.text, groups: self.groups, buffers, race: self.race }
    }

    fn grid(&mut self) {
        if self.shape.small {
            (self.size, self.groups) = self.pick(&[
                ([2, 1, 1], [1, 1, 1]),
                ([2, 1, 1], [1, 1, 1]),
                ([1, 2, 1], [1, 1, 1]),
                ([3, 1, 1], [1, 1, 1]),
                ([1, 1, 1], [2, 1, 1]),
            ]);
            (self.statements_left, self.accesses) = (6, if self.threads() == 3 { 2 } else { 4 });
            return;
        }
        self.size = self.pick(&[[4, 1, 1], [2, 2, 1], [8, 1, 1], [3, 1, 1], [5, 1, 1], [2, 1, 3], [1, 2, 2], [4, 1, 1], [16, 1, 1]]);
        self.groups = self.pick(&[[1, 1, 1], [2, 1, 1], [3, 1, 1], [1, 2, 1], [2, 1, 2]]);
        let left = if self.shape.short { 2 + self.below(4) } else { 24 + self.below(24) };
        (self.statements_left, self.accesses) = (left as isize, isize::MAX);
    }

    fn use_of_array(&mut self) -> Use {
        let n = self.threads();
        match self.below(6) {
            0 | 1 => Use::Shifted(self.below(n)),
            2 => Use::Reversed,
            3 if n > 1 => Use::Front(1 + self.below(n - 1)),
            _ => Use::All,
        }
    }

    fn use_of_atomics(&mut self, device: bool) -> AtomicUse {
        match self.below(3) {
            0 if !device => AtomicUse::Read,
            1 if !device => AtomicUse::Own,
            _ => AtomicUse::Commuting,
        }
    }

    /// Draws the shared arrays. Threadgroup variables are initialized with zeros.
    fn shared(&mut self) {
        let count = if self.shape.small { 1 + self.below(2) } else { 2 + self.below(3) };
        for i in 0..count {
            let device = if i < 2 { i == 1 } else { self.one_in(2) };
            let element = if self.one_in(3) { ELEMENTS[0] } else { self.pick(&ELEMENTS) };
            let (each, using) = (if self.one_in(3) { 2 } else { 1 }, self.use_of_array());
            self.arrays.push(Array { name: format!("{}{i}", if device { "data" } else { "part" }), element, device, each, using });
        }
        const OPERATIONS: [&str; 6] = ["Add", "And", "Or", "Xor", "Min", "Max"];
        for device in [false, true] {
            if !self.one_in(if self.shape.small { 3 } else { 2 }) {
                continue;
            }
            let length = if device { 3 } else { self.threads().max(3) };
            let operations = (0..length).map(|_| self.pick(&OPERATIONS)).collect();
            let (kind, using) = (self.pick(&[Kind::Uint, Kind::Int]), self.use_of_atomics(device));
            self.atomics.push(Atomics { name: if device { "totals" } else { "bins" }.into(), device, kind, operations, using });
        }
    }

    /// The contents of the buffers.
    fn contents(&mut self) -> Vec<(String, Vec<u32>)> {
        let word = |g: &mut Self, kind: Kind| match kind {
            Kind::Uint => g.below(12),
            Kind::Int => g.below(12).wrapping_sub(5),
            Kind::Float => (g.below(16) as f32 * 0.75 - 4.0).to_bits(),
        };
        let mut out = vec![("given".to_string(), (0..UNIFORM_WORDS).map(|_| self.below(6)).collect())];
        let (threads, groups) = (self.threads(), self.group_count());
        for array in self.arrays.clone() {
            if !array.device {
                continue;
            }
            let mut words = Vec::new();
            for _ in 0..threads * array.each * groups {
                let at = words.len();
                words.resize(at + array.element.words, 0);
                for &(_, kind, leaf) in array.element.leaves {
                    words[at + leaf] = word(self, kind);
                }
            }
            out.push((array.name, words));
        }
        for atomics in self.atomics.clone() {
            if atomics.device {
                out.push((atomics.name, atomics.operations.iter().map(|_| word(self, atomics.kind)).collect()));
            }
        }
        let left = (threads * groups) as usize * RESULTS_PER_THREAD;
        out.push(("whole".into(), vec![0; left]));
        if !self.shape.small {
            out.push(("real".into(), vec![0; left]));
        }
        out
    }
}
