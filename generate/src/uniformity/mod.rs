//! WSL programs for the analysis of uniformity. They have barriers and derivatives inside of every
//! form of control flow, usually in uniform control flow, now and then not.
//!
//! The generator estimates which variables may differ between threads, and whether control flow
//! may. It chooses the operands of conditions by that estimate. In a percentage of places, drawn
//! for each program, it *slips*: it takes a divergent condition where a uniform condition is due,
//! or it places a barrier or derivative where threads may have diverged. The estimate is no
//! analysis, and no verdict depends on it. Loops end after at most three iterations, except for a
//! few that may be endless. Values are small, so that most comparisons may be true or false.
//!
//! | file | what it makes |
//! |---|---|
//! | `tree` | the program as a tree, and smaller ones |
//! | `expressions` | values, conditions, calls |
//! | `statements` | statements, and what becomes of the account |

mod expressions;
mod statements;
mod tree;

pub use tree::{Expr, Function, Kind, Part, Stmt, Tree};

use crate::random::Random;

/// The version of the generator. Another version may make another program of the same seed.
pub const VERSION: u32 = 1;

/// The number of words in the constant buffer `c`, and in the device buffer `data`.
pub const WORDS: usize = 8;

/// A program and the grid that it runs over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The program, with one entry point `main`: of the compute stage, or of the fragment stage.
    pub tree: Tree,
    /// The number of threadgroups. Only for a compute entry point.
    pub groups: [u32; 3],
}

/// The program of a seed.
pub fn program(seed: u64) -> Generated {
    Generator::new(seed).generate()
}

/// The contents of the buffers `c` and `data` in run number `run`. In run 0, `c` holds zeros.
pub fn contents(seed: u64, run: u32) -> [Vec<u32>; 2] {
    let mut random = Random::new(seed ^ 0x636f_6e74_656e_7473 ^ u64::from(run) << 40);
    let c = (0..WORDS).map(|_| if run == 0 { 0 } else { random.below(6) }).collect();
    let data = (0..WORDS).map(|_| random.below(6)).collect();
    [c, data]
}

/// The type or role of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A `uint`.
    Scalar,
    /// A `Pair`.
    Pair,
    /// A `uint4`.
    Vector,
    /// A `uint[4]`.
    Array,
    /// A pointer to the variable of this index. No statement assigns to the pointer.
    Pointer(usize),
    /// A pointer that is a parameter. Its [`Var::varies`] is about the pointee.
    Parameter,
    /// A `bool`.
    Bool,
    /// A reference to the array of this index.
    Reference(usize),
    /// A parameter that is a reference to an array.
    ReferenceParameter,
    /// A pointer to the `Pair` of this index.
    PairPointer(usize),
    /// A pointer into the constant buffer.
    ConstantPointer,
    /// A pointer into threadgroup or device memory.
    SharedPointer,
    /// An atomic of threadgroup memory.
    Atomic,
    /// An array of threadgroup memory, or a reference to it.
    Group { reference: bool },
    /// The device buffer.
    Device,
    /// The constant buffer.
    Constant,
}

/// A variable.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    shape: Shape,
    /// Whether its value may differ between threads.
    varies: bool,
    writable: bool,
    /// The nesting depth of its block.
    depth: u32,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    Value,
    Pair,
    Pointer,
    Reference,
    Group,
    Device,
    Constant,
}

/// A function that can be called.
#[derive(Clone, Debug)]
struct Signature {
    name: String,
    /// The parameters. True if the parameter may get arguments that differ between threads.
    parameters: Vec<(Parameter, bool)>,
    /// Whether it returns a `uint`. If not, it returns nothing.
    returns: bool,
    /// Whether its result may differ between threads.
    varies: bool,
    /// Whether the pointees of its pointers may differ between threads afterwards.
    leaves_varying: bool,
    /// Whether its body has a barrier or derivative.
    needs_uniformity: bool,
    /// Whether its body may discard some threads.
    discards: bool,
}

/// A statement that `break` or `continue` leave: a loop or a switch.
#[derive(Clone, Copy, Debug)]
struct Level {
    is_loop: bool,
    /// Whether some threads may have left it by `break`.
    broke: bool,
    /// Whether some threads may have gone on to the next iteration by `continue`.
    continued: bool,
    /// Whether it was made for uniform control flow.
    uniform: bool,
}

struct Generator {
    random: Random,
    fragment: bool,
    /// The percentage of places that slip.
    slips: u32,
    vars: Vec<Var>,
    functions: Vec<Signature>,
    generated: Vec<Function>,
    next: u32,
    /// The number of statements that this function may still get.
    remaining: i32,
    depth: u32,
    levels: Vec<Level>,
    /// Whether an enclosing branch may be divergent.
    in_divergent_branch: bool,
    /// Whether some threads may have returned or may be discarded.
    some_threads_ended: bool,
    /// The variables that were stored to, by index, in order.
    writes: Vec<usize>,
    /// The result of the current function: nothing, a `uint`, or the entry point's result.
    returning: Returning,
    /// For the current function: whether its result may differ, whether it has a barrier or
    /// derivative, and whether it may discard threads.
    result_varies: bool,
    needs_uniformity: bool,
    discards: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Returning {
    Nothing,
    Uint,
    Color,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let fragment = random.percent(25);
        let slips = random.pick(&[0, 2, 6, 11, 18, 26]);
        Generator {
            random,
            fragment,
            slips,
            vars: Vec::new(),
            functions: Vec::new(),
            generated: Vec::new(),
            next: 0,
            remaining: 0,
            depth: 0,
            levels: Vec::new(),
            in_divergent_branch: false,
            some_threads_ended: false,
            writes: Vec::new(),
            returning: Returning::Nothing,
            result_varies: false,
            needs_uniformity: false,
            discards: false,
        }
    }

    fn percent(&mut self, percent: u32) -> bool {
        self.random.percent(percent)
    }

    /// Whether to slip here.
    fn slip(&mut self) -> bool {
        self.slips > 0 && self.random.percent(self.slips)
    }

    /// Whether control flow may be divergent here.
    fn may_diverge(&self) -> bool {
        self.in_divergent_branch || self.some_threads_ended || self.levels.iter().any(|level| level.broke || level.continued)
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// The name of a new `uint`. Now and then it hides a variable of an outer block.
    fn name(&mut self) -> String {
        let hides = |v: &&Var| v.depth < self.depth && v.writable && v.shape == Shape::Scalar;
        let hidden: Vec<&Var> = self.vars.iter().filter(hides).collect();
        if !hidden.is_empty() && self.random.percent(8) {
            let name = hidden[self.random.below(hidden.len() as u32) as usize].name.clone();
            if !self.vars.iter().any(|v| v.name == name && v.depth == self.depth) {
                return name;
            }
        }
        self.fresh("v")
    }

    /// Whether no later variable hides this one.
    fn is_visible(&self, i: usize) -> bool {
        !self.vars[i + 1..].iter().any(|v| v.name == self.vars[i].name)
    }

    /// The variables that are not hidden and that `fits` accepts.
    fn fitting(&self, fits: impl Fn(&Var) -> bool) -> Vec<usize> {
        (0..self.vars.len()).filter(|&i| fits(&self.vars[i]) && self.is_visible(i)).collect()
    }

    fn pick(&mut self, all: &[usize]) -> Option<usize> {
        if all.is_empty() { None } else { Some(self.random.pick(all)) }
    }

    fn generate(mut self) -> Generated {
        let functions = self.random.pick(&[0, 0, 1, 1, 2, 3]);
        for _ in 0..functions {
            self.function();
        }
        let groups = if self.percent(70) { [2, 1, 1] } else { [1, 1, 1] };
        self.entry();
        self.drop_uncalled();
        let met_body = match self.fragment {
            false => "AllMemoryBarrierWithGroupSync(); return p.a;",
            true => "return uint(fwidth(float(p.a)));",
        };
        let mut prelude = vec![
            ("Pair", "struct Pair { uint a; uint b; }\n".to_string()),
            (".sum", "uint operator.sum(Pair p) { return p.a + p.b; }\n".into()),
            (".met", format!("uint operator.met(Pair p) {{ {met_body} }}\n")),
            (".half", "uint operator.half(Pair p) { return p.b; }\n".into()),
            (".half", "Pair operator.half=(Pair p, uint v) { p.b = v; return p; }\n".into()),
            (".first", "thread uint* operator&.first(thread Pair* p) { return &p->a; }\n".into()),
            ("same(", "thread uint* same(thread uint* p) { return p; }\n".into()),
            ("second(", "thread uint* second(thread uint* p, thread uint* q) { *p = *q; return q; }\n".into()),
            ("Pair", "Pair operator+(Pair p, Pair q) { p.a = p.a + q.a; return p; }\n".into()),
        ];
        if !self.fragment {
            prelude.push(("sync()", "void sync() { AllMemoryBarrierWithGroupSync(); }\n".into()));
        }
        Generated { tree: Tree { prelude, functions: self.generated }, groups }
    }

    /// Removes functions that the entry point never calls, since they never run.
    fn drop_uncalled(&mut self) {
        for at in (0..self.generated.len().saturating_sub(1)).rev() {
            let call = format!("{}(", self.functions[at].name);
            let callers = Tree { prelude: Vec::new(), functions: self.generated[at + 1..].to_vec() };
            if !callers.text().contains(&call) {
                self.generated.remove(at);
            }
        }
    }

    /// Begins a function with an empty estimate.
    fn begin(&mut self, returning: Returning) {
        self.vars.clear();
        self.writes.clear();
        self.levels.clear();
        (self.in_divergent_branch, self.some_threads_ended, self.depth) = (false, false, 1);
        (self.result_varies, self.needs_uniformity, self.discards) = (false, false, false);
        self.returning = returning;
    }

    fn var(&mut self, name: impl Into<String>, shape: Shape, varies: bool, writable: bool) {
        self.vars.push(Var { name: name.into(), shape, varies, writable, depth: self.depth });
    }

    /// Generates a function.
    fn function(&mut self) {
        let returns = self.percent(60);
        self.begin(if returns { Returning::Uint } else { Returning::Nothing });
        self.remaining = 3 + self.random.below(7) as i32;
        let name = self.fresh("f");
        let (mut parameters, mut texts) = (Vec::new(), Vec::new());
        for i in 0..1 + self.random.below(3) {
            let name = format!("a{i}");
            let varies = self.percent(40);
            let parameter = self.random.pick(&[
                Parameter::Value,
                Parameter::Value,
                Parameter::Value,
                Parameter::Value,
                Parameter::Pointer,
                Parameter::Pointer,
                Parameter::Pair,
                Parameter::Reference,
            ]);
            let (ty, shape) = match parameter {
                Parameter::Pointer => ("thread uint*", Shape::Parameter),
                Parameter::Pair => ("Pair", Shape::Pair),
                Parameter::Reference => ("thread uint[]", Shape::ReferenceParameter),
                _ => ("uint", Shape::Scalar),
            };
            texts.push(format!("{ty} {name}"));
            self.var(name, shape, varies, !matches!(parameter, Parameter::Pointer | Parameter::Reference));
            parameters.push((parameter, varies));
        }
        let outer = [
            (Parameter::Constant, "constant uint[] c", "c", Shape::Constant),
            (Parameter::Device, "device uint[] data", "data", Shape::Device),
            (Parameter::Group, "threadgroup uint[] part", "part", Shape::Group { reference: true }),
        ];
        for (parameter, text, name, shape) in outer {
            let is_usable = parameter != Parameter::Group || !self.fragment;
            if is_usable && self.percent(45) {
                texts.push(text.into());
                self.var(name, shape, false, false);
                parameters.push((parameter, false));
            }
        }
        let mut body = self.block_of(|_, _| {});
        if returns {
            let uniform = self.percent(60);
            let (e, varies) = self.uint(2, uniform);
            self.result_varies |= varies || self.may_diverge();
            body.push(Stmt(tree::parts("return $;", [e])));
        }
        let ty = if returns { "uint" } else { "void" };
        self.generated.push(Function { head: format!("{ty} {name}({})", texts.join(", ")), body });
        let leaves_varying = self.vars.iter().any(|v| matches!(v.shape, Shape::Parameter | Shape::ReferenceParameter) && v.varies);
        let (varies, needs_uniformity, discards) = (self.result_varies, self.needs_uniformity, self.discards);
        self.functions.push(Signature { name, parameters, returns, varies, leaves_varying, needs_uniformity, discards });
    }

    fn entry(&mut self) {
        self.begin(if self.fragment { Returning::Color } else { Returning::Nothing });
        self.remaining = 8 + self.random.below(18) as i32;
        let buffers = "constant uint[] c : register(b0), device uint[] data : register(u0)";
        self.var("c", Shape::Constant, false, false);
        self.var("data", Shape::Device, false, false);
        let head = match self.fragment {
            true => {
                // The components of `at` are the variables x and y of the body.
                self.depth += 1;
                self.var("x", Shape::Scalar, true, true);
                self.var("y", Shape::Scalar, true, true);
                self.depth -= 1;
                format!("fragment float4 main(float2 at : attribute(0), {buffers}) : SV_Target 0")
            }
            false => {
                for (name, varies) in [("tid.x", true), ("lid.x", true), ("lane", true), ("gid.x", false)] {
                    self.var(name, Shape::Scalar, varies, false);
                }
                let size = match self.percent(2) {
                    true => "1, 1, 1",
                    false => self.random.pick(&["4, 1, 1", "4, 1, 1", "4, 1, 1", "2, 2, 1", "3, 1, 1", "2, 1, 1"]),
                };
                format!(
                    "[numthreads({size})] compute void main(uint3 tid : SV_DispatchThreadID, uint3 lid : SV_GroupThreadID, \
                     uint lane : SV_GroupIndex, uint3 gid : SV_GroupID, {buffers})"
                )
            }
        };
        let fragment = self.fragment;
        let mut body = self.block_of(|g, body| {
            if !fragment {
                g.depth += 1;
                g.var("part", Shape::Group { reference: false }, false, false);
                g.var("number", Shape::Atomic, false, false);
                g.depth -= 1;
            }
            for _ in 0..1 + g.random.below(3) {
                g.declaration(body);
            }
        });
        let mut first: Vec<&str> = match fragment {
            true => vec!["uint x = uint(at.x * 2.0);", "uint y = uint(at.y * 2.0);"],
            false => vec!["threadgroup uint[8] part;", "threadgroup atomic_uint number;"],
        };
        // Usually the program starts with stores to shared memory, whose values other threads read.
        if self.percent(75) {
            first.extend(match fragment {
                true => ["data[x & 7u] = y;", "data[y & 3u] = x;"],
                false => ["part[lane & 7u] = lane + gid.x;", "data[tid.x & 7u] = lane;"],
            });
        }
        body.splice(0..0, first.iter().map(|text| Stmt(vec![Part::Text((*text).into())])));
        if fragment {
            body.push(Stmt(vec![Part::Text("return float4(0.0, 0.0, 0.0, 1.0);".into())]));
        }
        self.generated.push(Function { head, body });
    }
}
