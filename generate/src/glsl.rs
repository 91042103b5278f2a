//! GLSL shaders, in the forms that front ends usually get. glslang compiles them to constructs that
//! no other generator has: functions that take pointers to textures and samplers, gl_PerVertex,
//! BufferBlock, storage images, structures and matrices in blocks, and global variables.
//!
//! The shaders have nothing undefined. Indices are in range, no divisor is zero, shift counts are
//! small, loops end, and invocations interact only through barriers.

use std::fmt::Write;

use crate::random::Random;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A compute shader, for a dispatch.
    Compute,
    /// A vertex stage.
    Vertex,
    /// A fragment stage.
    Fragment,
}

impl Stage {
    /// The name of the stage for glslangValidator.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Compute => "comp",
            Stage::Vertex => "vert",
            Stage::Fragment => "frag",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Bool,
    Int,
    Uint,
    Float,
}

use Scalar::{Bool, Float, Int, Uint};

/// A scalar or vector type: the scalar and the number of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Type(Scalar, u32);

impl Type {
    fn name(self) -> String {
        let Type(scalar, lanes) = self;
        let (one, prefix) = match scalar {
            Bool => ("bool", "b"),
            Int => ("int", "i"),
            Uint => ("uint", "u"),
            Float => ("float", ""),
        };
        if lanes == 1 { one.into() } else { format!("{prefix}vec{lanes}") }
    }
}

/// An expression that can be read, and perhaps written.
#[derive(Clone, Debug)]
struct Place {
    text: String,
    type_: Type,
    writable: bool,
}

#[derive(Clone)]
struct Function {
    name: String,
    result: Type,
    parameters: Vec<(&'static str, Type)>,
    /// The texture and sampler parameters: none, separate, or a combined image sampler.
    handles: Handles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handles {
    None,
    Separate,
    Combined,
}

struct Writer {
    random: Random,
    out: String,
    indent: usize,
    scope: Vec<Place>,
    functions: Vec<Function>,
    names: u32,
    /// The expression that the current function can sample. `None` if there is none.
    sampled: Option<&'static str>,
    /// The number of statements that may still be written.
    statements_left: u32,
}

/// The shader of a seed, and its stage.
pub fn shader(seed: u64) -> (Stage, String) {
    let mut random = Random::new(seed ^ 0x676c_736c);
    let stage = random.pick(&[Stage::Compute, Stage::Compute, Stage::Fragment, Stage::Fragment, Stage::Vertex]);
    let mut writer = Writer {
        random,
        out: String::new(),
        indent: 0,
        scope: Vec::new(),
        functions: Vec::new(),
        names: 0,
        sampled: None,
        statements_left: 0,
    };
    writer.shader(stage);
    (stage, writer.out)
}

impl Writer {
    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "{:indent$}{}", "", text.as_ref(), indent = 4 * self.indent);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn type_(&mut self) -> Type {
        let scalar = self.random.pick(&[Int, Int, Uint, Uint, Float, Float, Bool]);
        Type(scalar, self.random.pick(&[1, 1, 1, 2, 3, 4]))
    }

    /// Declares a place that later expressions may read.
    fn declare(&mut self, text: impl Into<String>, type_: Type, writable: bool) {
        self.scope.push(Place { text: text.into(), type_, writable });
    }

    fn shader(&mut self, stage: Stage) {
        self.line("#version 450");
        match stage {
            Stage::Compute => self.line("layout(local_size_x = 8) in;"),
            Stage::Fragment => {
                for (at, text) in ["vec4 in0", "flat ivec4 in1", "flat uvec2 in2"].iter().enumerate() {
                    self.line(format!("layout(location = {at}) in {text};"));
                }
                self.line("layout(location = 0) out vec4 out0;");
                self.line("layout(location = 1) out uvec4 out1;");
            }
            Stage::Vertex => {
                for (at, text) in ["vec4 in0", "ivec4 in1", "uvec2 in2"].iter().enumerate() {
                    self.line(format!("layout(location = {at}) in {text};"));
                }
                self.line("layout(location = 0) out vec4 out0;");
                self.line("layout(location = 1) flat out uvec4 out1;");
            }
        }
        self.line("struct Part { int n; vec3 v; uint u[4]; };");
        let major = self.random.pick(&["", "layout(row_major) "]);
        self.line(format!(
            "layout(set = 0, binding = 0, std140) uniform Block {{ {major}mat3x4 matrix; ivec4 words[4]; Part part; }} block;"
        ));
        self.line("layout(set = 0, binding = 1, std430) readonly buffer Given { uint count; Part parts[4]; vec2 pairs[4]; } given;");
        self.line("layout(set = 1, binding = 0) uniform texture2D picture;");
        self.line("layout(set = 1, binding = 1) uniform sampler samples;");
        self.line("layout(set = 1, binding = 2) uniform sampler2D both;");
        if stage == Stage::Compute {
            self.line("layout(set = 0, binding = 2, std430) buffer Result { uint sum; uint shown[]; } result;");
            self.line("layout(set = 0, binding = 3, r32ui) uniform writeonly uimage2D image;");
            self.line("shared uint together[8];");
        }
        self.line("Part own = Part(3, vec3(1.0, 2.0, -0.5), uint[4](1u, 2u, 3u, 4u));");
        self.line("const int table[4] = int[4](7, -1, 0, 40);");
        for (text, type_) in [
            ("block.words[1]", Type(Int, 4)),
            ("block.part.n", Type(Int, 1)),
            ("block.part.v", Type(Float, 3)),
            ("block.matrix[1]", Type(Float, 4)),
            ("given.count", Type(Uint, 1)),
            ("given.parts[2].v.zx", Type(Float, 2)),
            ("given.pairs[3]", Type(Float, 2)),
        ] {
            self.declare(text, type_, false);
        }
        for (text, type_) in [("own.n", Type(Int, 1)), ("own.v", Type(Float, 3)), ("own.u[2]", Type(Uint, 1))] {
            self.declare(text, type_, true);
        }
        let globals = self.scope.len();
        for _ in 0..self.random.between(1, 3) {
            self.function();
            self.scope.truncate(globals);
        }
        self.main(stage);
    }

    fn function(&mut self) {
        let (result, handles) = (self.type_(), self.handles());
        let mut parameters = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            parameters.push((self.random.pick(&["in", "in", "const in", "inout", "out"]), self.type_()));
        }
        let name = self.name("f");
        let mut texts = Vec::new();
        let mut out_parameters = Vec::new();
        for (qualifier, type_) in &parameters {
            let parameter = self.name("p");
            texts.push(format!("{qualifier} {} {parameter}", type_.name()));
            if *qualifier == "out" {
                out_parameters.push((parameter.clone(), *type_));
            } else {
                self.declare(parameter, *type_, !qualifier.starts_with("const"));
            }
        }
        self.sampled = match handles {
            Handles::None => None,
            Handles::Separate => {
                texts.push("texture2D t, sampler s".into());
                Some(SEPARATE_SAMPLERS)
            }
            Handles::Combined => {
                texts.push("sampler2D c".into());
                Some("c")
            }
        };
        self.line(format!("{} {name}({}) {{", result.name(), texts.join(", ")));
        self.indent += 1;
        for (parameter, type_) in out_parameters {
            let value = self.expr(type_, 2);
            self.line(format!("{parameter} = {value};"));
            self.declare(parameter, type_, true);
        }
        self.statements_left = self.random.between(2, 8);
        self.statements(2, Some(result), false);
        let value = self.expr(result, 3);
        self.line(format!("return {value};"));
        self.indent -= 1;
        self.line("}");
        self.sampled = None;
        self.functions.push(Function { name, result, parameters, handles });
    }

    /// Combined image samplers are rare, since nothing can compare the resulting modules yet.
    fn handles(&mut self) -> Handles {
        match self.random.below(20) {
            0 => Handles::Combined,
            1..=9 => Handles::Separate,
            _ => Handles::None,
        }
    }

    fn main(&mut self, stage: Stage) {
        self.line("void main() {");
        self.indent += 1;
        self.sampled = Some(COMBINED_SAMPLER);
        match stage {
            Stage::Compute => {
                self.line("uint id = gl_GlobalInvocationID.x, local = gl_LocalInvocationIndex;");
                self.declare("id", Type(Uint, 1), false);
                self.declare("local", Type(Uint, 1), false);
                self.declare("gl_WorkGroupID", Type(Uint, 3), false);
            }
            Stage::Vertex | Stage::Fragment => {
                self.declare("in0", Type(Float, 4), false);
                self.declare("in1", Type(Int, 4), false);
                self.declare("in2", Type(Uint, 2), false);
                self.line("out0 = vec4(0.0); out1 = uvec4(0u);");
                self.declare("out0", Type(Float, 4), true);
                self.declare("out1", Type(Uint, 4), true);
            }
        }
        if stage == Stage::Vertex {
            self.declare("gl_VertexIndex", Type(Int, 1), false);
            self.line("gl_Position = vec4(in0.xy, 0.5, 1.0);");
            self.line("gl_PointSize = 1.0;");
        }
        for _ in 0..self.random.between(1, 3) {
            self.statements_left = self.random.between(3, 10);
            // Barriers stand only where all invocations get.
            self.statements(3, None, stage == Stage::Fragment);
            if stage == Stage::Compute {
                let (value, step) = (self.expr(Type(Uint, 1), 3), self.random.below(8));
                self.line(format!("together[local] = {value};"));
                self.line("barrier();");
                let name = self.name("v");
                self.line(format!("uint {name} = together[(local + {step}u) & 7u];"));
                self.line("barrier();");
                self.declare(name, Type(Uint, 1), true);
            }
        }
        match stage {
            Stage::Compute => {
                let (increment, shown, texel) = (self.expr(Type(Uint, 1), 2), self.expr(Type(Uint, 1), 3), self.expr(Type(Uint, 4), 2));
                self.line(format!("atomicAdd(result.sum, {increment});"));
                self.line(format!("imageStore(image, ivec2(id, 0), {texel});"));
                self.line(format!("if (id < uint(result.shown.length())) result.shown[id] = {shown};"));
            }
            Stage::Vertex | Stage::Fragment => {
                let (floats, words) = (self.expr(Type(Float, 4), 3), self.expr(Type(Uint, 4), 3));
                self.line(format!("out0 += {floats};"));
                self.line(format!("out1 ^= {words};"));
            }
        }
        self.indent -= 1;
        self.line("}");
    }

    /// Writes statements. `result` is the return type in functions. `may_return` says whether the
    /// entry point may return here.
    fn statements(&mut self, depth: u32, result: Option<Type>, may_return: bool) {
        let outer = self.scope.len();
        for _ in 0..self.random.between(1, 4) {
            if self.statements_left == 0 {
                break;
            }
            self.statements_left -= 1;
            self.statement(depth, result, may_return);
        }
        // Declarations of the outermost block stay in scope.
        if self.indent > 1 {
            self.scope.truncate(outer);
        }
    }

    fn block(&mut self, head: &str, depth: u32, result: Option<Type>, may_return: bool, last: &str) {
        self.line(format!("{head} {{"));
        self.indent += 1;
        self.statements(depth - 1, result, may_return);
        if !last.is_empty() {
            self.line(last);
        }
        self.indent -= 1;
        self.line("}");
    }

    fn condition(&mut self) -> String {
        self.expr(Type(Bool, 1), 2)
    }

    fn statement(&mut self, depth: u32, result: Option<Type>, may_return: bool) {
        let nested = if depth == 0 { 0 } else { 2 };
        match self.random.weighted(&[4, 5, 2 * nested, nested, nested, nested, 2, 1, 1]) {
            0 => {
                let (type_, name) = (self.type_(), self.name("v"));
                let value = self.expr(type_, 3);
                self.line(format!("{} {name} = {value};", type_.name()));
                self.declare(name, type_, true);
            }
            1 => self.assign(),
            2 => {
                let condition = self.condition();
                let last = match (result, self.random.below(5)) {
                    (Some(type_), 0) => format!("return {};", self.expr(type_, 2)),
                    (None, 0) if may_return => self.random.pick(&["discard;", "return;"]).into(),
                    _ => String::new(),
                };
                self.block(&format!("if ({condition})"), depth, result, may_return, &last);
                if self.random.percent(40) {
                    self.block("else", depth, result, may_return, "");
                }
            }
            3 => {
                let (name, turns) = (self.name("i"), self.random.between(1, 5));
                let condition = self.condition();
                self.declare(name.clone(), Type(Int, 1), false);
                let jump = self.random.pick(&["break", "continue"]);
                let last = if self.random.percent(50) { format!("if ({condition}) {jump};") } else { String::new() };
                let head = format!("for (int {name} = 0; {name} < {turns}; {name}++)");
                self.block(&head, depth, result, may_return, &last);
                self.scope.retain(|place| place.text != name);
            }
            4 => {
                let (name, turns) = (self.name("n"), self.random.between(1, 4));
                self.line(format!("uint {name} = 0u;"));
                let condition = self.condition();
                let last = format!("if (++{name} > {turns}u || {condition}) break;");
                if self.random.percent(50) {
                    self.block("while (true)", depth, result, may_return, &last);
                } else {
                    self.block("do", depth, result, may_return, &last);
                    self.line("while (true);");
                }
            }
            5 => {
                let selector = self.expr(Type(Int, 1), 2);
                self.line(format!("switch ({selector} & 3) {{"));
                self.indent += 1;
                for case in ["case 0:", "case 1:", "case 3:", "default:"] {
                    let last = if self.random.percent(70) { "break;" } else { "" };
                    self.block(case, depth, result, may_return, last);
                }
                self.indent -= 1;
                self.line("}");
            }
            6 => {
                // A local array, which is written and read by an index.
                let (name, type_) = (self.name("a"), self.type_());
                let parts: Vec<String> = (0..4).map(|_| self.expr(type_, 1)).collect();
                self.line(format!("{0} {name}[4] = {0}[4]({1});", type_.name(), parts.join(", ")));
                let (to, from, value) = (self.index(), self.index(), self.expr(type_, 2));
                self.line(format!("{name}[{to}] = {value};"));
                self.declare(format!("{name}[{from}]"), type_, true);
            }
            7 => {
                let (name, at) = (self.name("s"), self.index());
                let whole = self.random.pick(&["own", "block.part", "given.parts[1]"]);
                self.line(format!("Part {name} = {whole};"));
                let value = self.expr(Type(Uint, 1), 2);
                self.line(format!("{name}.u[{at}] = {value};"));
                self.declare(format!("{name}.v"), Type(Float, 3), true);
                self.declare(format!("{name}.u[{at}]"), Type(Uint, 1), true);
            }
            _ => {
                let (at, value) = (self.index(), self.expr(Type(Uint, 1), 2));
                self.line(format!("own.u[{at}] = {value};"));
            }
        }
    }

    /// An index of an array of four elements. It depends only on values that never change, since
    /// its text may be used twice.
    fn index(&mut self) -> String {
        let constant_places: Vec<&Place> = self.scope.iter().filter(|p| !p.writable && p.type_ == Type(Int, 1)).collect();
        let place = constant_places[self.random.below(constant_places.len() as u32) as usize].text.clone();
        match self.random.below(3) {
            0 => self.random.below(4).to_string(),
            _ => format!("({place} & 3)"),
        }
    }

    fn assign(&mut self) {
        let places: Vec<Place> = self.scope.iter().filter(|place| place.writable).cloned().collect();
        let place = places[self.random.below(places.len() as u32) as usize].clone();
        let Type(scalar, lanes) = place.type_;
        if lanes > 1 && self.random.percent(40) {
            let (component, value) = (self.random.pick(&["x", "y"]), self.expr(Type(scalar, 1), 2));
            return self.line(format!("{}.{component} = {value};", place.text));
        }
        let value = self.expr(place.type_, 3);
        let operator = match scalar {
            Bool => "=",
            Float => self.random.pick(&["=", "=", "+=", "*="]),
            Int | Uint => self.random.pick(&["=", "=", "+=", "^=", "-="]),
        };
        self.line(format!("{} {operator} {value};", place.text));
    }

    fn literal(&mut self, Type(scalar, lanes): Type) -> String {
        let one = match scalar {
            Bool => self.random.pick(&["true", "false"]).into(),
            Int => (self.random.pick(&[0i64, 1, 2, 5, 31, -1, -7, 1000, -2_147_483_647])).to_string(),
            Uint => format!("{}u", self.random.pick(&[0u32, 1, 2, 3, 31, 255, 0x8000_0000, u32::MAX])),
            Float => self.random.pick(&["0.0", "1.0", "-2.5", "0.125", "3.0", "100.0"]).into(),
        };
        if lanes == 1 { one } else { format!("{}({one})", Type(scalar, lanes).name()) }
    }

    fn leaf(&mut self, type_: Type) -> String {
        let Type(scalar, lanes) = type_;
        let candidates: Vec<&Place> = self.scope.iter().filter(|p| p.type_.0 == scalar && p.type_.1 >= lanes).collect();
        if candidates.is_empty() || self.random.percent(20) {
            return self.literal(type_);
        }
        let place = candidates[self.random.below(candidates.len() as u32) as usize].clone();
        match place.type_.1 == lanes {
            true => place.text,
            false => format!("{}.{}", place.text, self.swizzle(place.type_.1, lanes)),
        }
    }

    fn swizzle(&mut self, source_lanes: u32, lanes: u32) -> String {
        (0..lanes).map(|_| ["x", "y", "z", "w"][self.random.below(source_lanes) as usize]).collect()
    }

    fn expr(&mut self, type_: Type, fuel: u32) -> String {
        if fuel == 0 {
            return self.leaf(type_);
        }
        let Type(scalar, lanes) = type_;
        let fuel = fuel - 1;
        match self.random.weighted(&[3, 6, 2, 1, 1, 2, 1, 2]) {
            0 => self.leaf(type_),
            1 => self.binary(type_, fuel),
            2 => {
                let value = self.expr(type_, fuel);
                match scalar {
                    Bool if lanes == 1 => format!("!({value})"),
                    Bool => format!("not({value})"),
                    Int => format!("{}({value})", self.random.pick(&["-", "~", "abs", "bitCount", "sign", "findMSB"])),
                    Uint => format!("{}({value})", self.random.pick(&["-", "~", "bitfieldReverse"])),
                    Float => format!("{}({value})", self.random.pick(&["-", "abs", "floor", "sign", "trunc"])),
                }
            }
            3 if lanes > 1 => {
                let first = self.random.between(1, lanes - 1);
                let (a, b) = (self.expr(Type(scalar, first), fuel), self.expr(Type(scalar, lanes - first), fuel));
                format!("{}({a}, {b})", type_.name())
            }
            4 => {
                let (test, then_value, else_value) = (self.expr(Type(Bool, 1), fuel), self.expr(type_, fuel), self.expr(type_, fuel));
                format!("({test} ? {then_value} : {else_value})")
            }
            5 => self.conversion(type_, fuel),
            6 if lanes < 4 => {
                let source_lanes = self.random.between(lanes.max(2), 4);
                let (value, swizzle) = (self.expr(Type(scalar, source_lanes), fuel), self.swizzle(source_lanes, lanes));
                format!("({value}).{swizzle}")
            }
            7 if type_ == Type(Float, 4) && self.sampled.is_some() => {
                let at = self.expr(Type(Float, 2), fuel);
                format!("textureLod({}, {at}, 0.0)", self.sampled.unwrap_or_default())
            }
            7 => self.call(type_, fuel),
            _ if type_ == Type(Float, 1) => format!("dot({}, {})", self.expr(Type(Float, 3), fuel), self.expr(Type(Float, 3), fuel)),
            _ if type_ == Type(Int, 1) => format!("table[{}]", self.index()),
            _ => self.leaf(type_),
        }
    }

    fn binary(&mut self, type_: Type, fuel: u32) -> String {
        let Type(scalar, lanes) = type_;
        if scalar == Bool {
            // Floats are compared rarely, because for some of them devices may have
            // different values.
            let operand_type = Type(self.random.pick(&[Int, Int, Uint, Uint, Bool, Float]), lanes);
            if operand_type.0 == Float && !self.random.percent(30) {
                return self.leaf(type_);
            }
            let (a, b) = (self.expr(operand_type, fuel), self.expr(operand_type, fuel));
            return match (operand_type.0, lanes) {
                (Bool, 1) => format!("({a} {} {b})", self.random.pick(&["&&", "||", "^^", "=="])),
                (Bool, _) => format!("{}({a}, {b})", self.random.pick(&["equal", "notEqual"])),
                (_, 1) => format!("({a} {} {b})", self.random.pick(&["<", "<=", ">", ">=", "==", "!="])),
                _ => format!("{}({a}, {b})", self.random.pick(&["lessThan", "greaterThanEqual", "equal", "notEqual"])),
            };
        }
        let (a, b) = (self.expr(type_, fuel), self.expr(type_, fuel));
        let suffix = if scalar == Uint { "u" } else { "" };
        match (scalar, self.random.below(10)) {
            (Float, 0..=6) => format!("({a} {} {b})", self.random.pick(&["+", "-", "*"])),
            (Float, 7) => format!("({a} / (abs({b}) + 1.0))"),
            (_, 0..=4) => format!("({a} {} {b})", self.random.pick(&["+", "-", "*", "&", "|", "^"])),
            (_, 5) => format!("({a} / (({b} & 7{suffix}) + 1{suffix}))"),
            (_, 6) => format!("({a} % (({b} & 7{suffix}) + 1{suffix}))"),
            (_, 7) => format!("({a} {} ({b} & 31{suffix}))", self.random.pick(&["<<", ">>"])),
            _ => format!("{}({a}, {b})", self.random.pick(&["min", "max"])),
        }
    }

    fn conversion(&mut self, type_: Type, fuel: u32) -> String {
        let Type(scalar, lanes) = type_;
        let from = match scalar {
            Bool => self.random.pick(&[Int, Uint]),
            Int => self.random.pick(&[Uint, Bool]),
            Uint => self.random.pick(&[Int, Bool]),
            Float => self.random.pick(&[Int, Uint, Bool]),
        };
        let value = self.expr(Type(from, lanes), fuel);
        match scalar {
            // The value becomes small enough that float arithmetic stays exact.
            Float if from == Int => format!("{}({value} & 255)", type_.name()),
            Float if from == Uint => format!("{}({value} & 255u)", type_.name()),
            _ => format!("{}({value})", type_.name()),
        }
    }

    /// A call of a function that was written earlier.
    fn call(&mut self, type_: Type, fuel: u32) -> String {
        let callees: Vec<usize> = (0..self.functions.len()).filter(|&at| self.functions[at].result == type_).collect();
        let Some(&at) = callees.get(self.random.below(callees.len() as u32) as usize) else { return self.leaf(type_) };
        let Function { name, parameters, handles, .. } = self.functions[at].clone();
        let mut arguments = Vec::new();
        for (qualifier, type_) in parameters {
            arguments.push(match qualifier.ends_with("in") {
                true => self.expr(type_, fuel.min(1)),
                false => match self.writable_place(type_) {
                    Some(place) => place,
                    None => return self.leaf(self.functions[at].result),
                },
            });
        }
        match (handles, self.sampled) {
            (Handles::None, _) => {}
            (Handles::Separate, Some(COMBINED_SAMPLER)) => arguments.push("picture, samples".into()),
            (Handles::Separate, Some(SEPARATE_SAMPLERS)) => arguments.push("t, s".into()),
            (Handles::Combined, Some(whole)) if whole != SEPARATE_SAMPLERS => arguments.push(whole.into()),
            _ => return self.leaf(type_),
        }
        format!("{name}({})", arguments.join(", "))
    }

    /// A writable place of that type. `None` if there is none.
    fn writable_place(&mut self, type_: Type) -> Option<String> {
        let places: Vec<&Place> = self.scope.iter().filter(|place| place.writable && place.type_ == type_).collect();
        places.get(self.random.below(places.len() as u32) as usize).map(|place| place.text.clone())
    }
}

/// The expression to sample in main, and in a function that takes a texture and a sampler.
const COMBINED_SAMPLER: &str = "both";
const SEPARATE_SAMPLERS: &str = "sampler2D(t, s)";
