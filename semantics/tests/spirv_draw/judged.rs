//! Draws over sets with their fragment stage on the lockstep machine, beside the same by the
//! relation alone: the machine shows the same, or more than the relation decides.

use std::fmt::Write;

use smallstep_semantics::image::{Filter, Sampler};
use smallstep_semantics::number::sets::Rules;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::draw::By;
use smallstep_semantics::spirv::grammar::Op as Core;
use smallstep_semantics::spirv::lockstep::{Code, FragmentProgram, Op, Parts};
use smallstep_semantics::spirv::operation;

use smallstep_semantics::spirv::{Event, Sink};

use crate::*;

/// A body under way. Floats are in the variables %f_0 to %f_3, integers in %n_0 and %n_1, Booleans
/// in %b_0 and %b_1, and %cells is an array of four floats.
struct Body {
    state: u64,
    next: u32,
    text: String,
    /// The loop that it is in.
    inner: Option<u32>,
}

const FLOATS: [&str; 10] = ["%f0", "%f1", "%f2", "%half", "%tenth", "%seven", "%cx", "%cy", "%ix", "%iy"];
const OF_ONE: [&str; 14] =
    ["FAbs", "Floor", "Fract", "Sqrt", "Sin", "Cos", "Exp2", "FSign", "Ceil", "Trunc", "InverseSqrt", "Log2", "Radians", "RoundEven"];
const OF_TWO: [&str; 5] = ["FMin", "FMax", "Step", "Pow", "Atan2"];
const OF_THREE: [&str; 4] = ["FClamp", "FMix", "SmoothStep", "Fma"];
const COMPARISONS: [&str; 8] = [
    "FOrdLessThan",
    "FOrdGreaterThan",
    "FOrdLessThanEqual",
    "FOrdGreaterThanEqual",
    "FOrdEqual",
    "FUnordNotEqual",
    "FUnordLessThan",
    "FUnordGreaterThanEqual",
];

impl Body {
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.state >> 33) % bound as u64) as usize
    }

    /// A fresh id.
    fn id(&mut self) -> String {
        self.next += 1;
        format!("%x{}", self.next)
    }

    /// An instruction with a result.
    fn make(&mut self, instruction: &str) -> String {
        let id = self.id();
        writeln!(self.text, "{id} = {instruction}").expect("a string takes all");
        id
    }

    fn emit(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn float(&mut self) -> String {
        match self.below(16) {
            k @ 0..=9 => FLOATS[k].into(),
            10 => {
                let at = self.cell();
                self.make(&format!("OpLoad %float {at}"))
            }
            k => self.make(&format!("OpLoad %float %f_{}", k % 4)),
        }
    }

    /// A pointer to an element of the array.
    fn cell(&mut self) -> String {
        let index = self.integer();
        let index = self.make(&format!("OpBitwiseAnd %int {index} %i3"));
        self.make(&format!("OpAccessChain %pf %cells {index}"))
    }

    fn integer(&mut self) -> String {
        match self.below(6) {
            0 => "%i1".into(),
            1 => "%i3".into(),
            2 => "%xi".into(),
            k => self.make(&format!("OpLoad %int %n_{}", k % 2)),
        }
    }

    fn truth(&mut self) -> String {
        match self.below(8) {
            0 => self.make("OpLoad %bool %b_0"),
            1 => {
                let (a, b) = (self.integer(), self.integer());
                self.make(&format!("OpSLessThan %bool {a} {b}"))
            }
            2 => {
                let op = ["LogicalAnd", "LogicalOr", "LogicalNotEqual", "LogicalEqual"][self.below(4)];
                let b = self.make("OpLoad %bool %b_1");
                let a = self.compared();
                self.make(&format!("Op{op} %bool {a} {b}"))
            }
            3 => {
                let a = self.compared();
                self.make(&format!("OpLogicalNot %bool {a}"))
            }
            _ => self.compared(),
        }
    }

    fn compared(&mut self) -> String {
        let (a, b, op) = (self.float(), self.float(), COMPARISONS[self.below(8)]);
        self.make(&format!("Op{op} %bool {a} {b}"))
    }

    fn keep(&mut self, value: &str) {
        let to = self.below(4);
        self.emit(&format!("OpStore %f_{to} {value}"));
    }

    fn branch(&mut self, depth: u32, mut taken: impl FnMut(&mut Body, &str)) {
        let condition = self.truth();
        let id = self.id();
        let otherwise = if self.below(2) == 0 { "no" } else { "merge" };
        let name = id[1..].to_string();
        self.emit(&format!("OpSelectionMerge %merge{name} None OpBranchConditional {condition} %yes{name} %{otherwise}{name}"));
        self.emit(&format!("%yes{name} = OpLabel"));
        taken(self, &name);
        if otherwise == "no" {
            self.emit(&format!("%no{name} = OpLabel"));
            self.statements(depth);
            self.emit(&format!("OpBranch %merge{name}"));
        }
        self.emit(&format!("%merge{name} = OpLabel"));
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..=self.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        match self.below(if depth == 0 { 19 } else { 27 }) {
            0..=4 => {
                let (a, b, op) = (self.float(), self.float(), ["FAdd", "FSub", "FMul", "FMul", "FDiv"][self.below(5)]);
                let x = self.make(&format!("Op{op} %float {a} {b}"));
                self.keep(&x);
            }
            5 => {
                let a = self.float();
                let x = self.make(&format!("OpFNegate %float {a}"));
                self.keep(&x);
            }
            6 | 7 => {
                let (a, op) = (self.float(), OF_ONE[self.below(14)]);
                let x = self.make(&format!("OpExtInst %float %glsl {op} {a}"));
                self.keep(&x);
            }
            8 => {
                let (a, b, op) = (self.float(), self.float(), OF_TWO[self.below(5)]);
                let x = self.make(&format!("OpExtInst %float %glsl {op} {a} {b}"));
                self.keep(&x);
            }
            9 => {
                let (a, b, c, op) = (self.float(), self.float(), self.float(), OF_THREE[self.below(4)]);
                let x = self.make(&format!("OpExtInst %float %glsl {op} {a} {b} {c}"));
                self.keep(&x);
            }
            10 => {
                let (a, b, c) = (self.float(), self.float(), self.float());
                let [v, w] = [(&a, &b), (&b, &c)].map(|(a, b)| self.make(&format!("OpCompositeConstruct %v2 {a} {b}")));
                let x = match self.below(4) {
                    0 => self.make(&format!("OpDot %float {v} {w}")),
                    1 => self.make(&format!("OpExtInst %float %glsl Length {v}")),
                    2 => {
                        let scaled = self.make(&format!("OpVectorTimesScalar %v2 {v} {c}"));
                        self.make(&format!("OpCompositeExtract %float {scaled} 1"))
                    }
                    _ => {
                        let one = self.make(&format!("OpExtInst %v2 %glsl Normalize {v}"));
                        self.make(&format!("OpCompositeExtract %float {one} 0"))
                    }
                };
                self.keep(&x);
            }
            11 => {
                let (condition, a, b) = (self.truth(), self.float(), self.float());
                let x = self.make(&format!("OpSelect %float {condition} {a} {b}"));
                self.keep(&x);
            }
            12 => {
                let a = self.float();
                let small = self.make(&format!("OpExtInst %float %glsl FClamp {a} %f0 %seven"));
                let x = self.make(&format!("OpConvertFToS %int {small}"));
                let to = self.below(2);
                self.emit(&format!("OpStore %n_{to} {x}"));
            }
            13 => {
                let (a, b, op) = (self.integer(), self.integer(), ["IAdd", "ISub", "IMul", "BitwiseXor"][self.below(4)]);
                let x = self.make(&format!("Op{op} %int {a} {b}"));
                let x = self.make(&format!("OpBitwiseAnd %int {x} %i63"));
                let to = self.below(2);
                self.emit(&format!("OpStore %n_{to} {x}"));
            }
            14 => {
                let a = self.integer();
                let x = self.make(&format!("OpConvertSToF %float {a}"));
                self.keep(&x);
            }
            15 => {
                let (at, a) = (self.cell(), self.float());
                self.emit(&format!("OpStore {at} {a}"));
            }
            16 => {
                let (condition, to) = (self.truth(), self.below(2));
                self.emit(&format!("OpStore %b_{to} {condition}"));
            }
            17 if self.below(2) == 0 => {
                let (a, op) = (self.float(), ["DPdx", "DPdy", "Fwidth"][self.below(3)]);
                let x = self.make(&format!("Op{op} %float {a}"));
                self.keep(&x);
            }
            17 => {
                let a = self.float();
                let x = self.make(&format!("OpFunctionCall %float %half_of {a}"));
                self.keep(&x);
            }
            18 => {
                let [a, b] = [0, 1].map(|_| self.float());
                let at = match self.below(3) {
                    0 => "%uv".into(),
                    _ => self.make(&format!("OpCompositeConstruct %v2 {a} {b}")),
                };
                let texel = match self.below(4) {
                    0 => {
                        let (i, j) = (self.integer(), self.integer());
                        let [i, j] = [i, j].map(|of| self.make(&format!("OpBitwiseAnd %int {of} %i3")));
                        let at = self.make(&format!("OpCompositeConstruct %i2 {i} {j}"));
                        self.make(&format!("OpImageFetch %v4 %t {at} Lod %i0"))
                    }
                    1 => {
                        let sampled = self.make("OpSampledImage %simg %t %s");
                        self.make(&format!("OpImageSampleImplicitLod %v4 {sampled} {at}"))
                    }
                    2 => {
                        let sampled = self.make("OpSampledImage %simg %t %s");
                        self.make(&format!("OpImageGather %v4 {sampled} {at} %i1"))
                    }
                    _ => {
                        let sampled = self.make("OpSampledImage %simg %t %s");
                        self.make(&format!("OpImageSampleExplicitLod %v4 {sampled} {at} Lod %f0"))
                    }
                };
                let part = self.below(4);
                let x = self.make(&format!("OpCompositeExtract %float {texel} {part}"));
                self.keep(&x);
            }
            19..=21 => self.branch(depth - 1, |body, merge| {
                body.statements(depth - 1);
                body.emit(&format!("OpBranch %merge{merge}"));
            }),
            22 => {
                let end = ["OpKill", "OpReturn"][self.below(2)];
                self.branch(0, |body, _| body.emit(end));
            }
            23 if self.inner.is_some() => {
                let (of, target) = (self.inner.expect("it is"), ["over", "next"][self.below(2)]);
                self.branch(depth - 1, |body, _| body.emit(&format!("OpBranch %{target}{of}")));
            }
            _ => {
                let id = self.next + 1;
                self.next = id;
                let outer = self.inner.replace(id);
                let bound = ["%i1", "%i3", "%xi"][self.below(3)];
                self.emit(&format!("OpStore %index{depth} %i0 OpBranch %head{id} %head{id} = OpLabel"));
                self.emit(&format!("OpLoopMerge %over{id} %next{id} None OpBranch %test{id} %test{id} = OpLabel"));
                self.emit(&format!("%l{id} = OpLoad %int %index{depth} %t{id} = OpSLessThan %bool %l{id} {bound}"));
                self.emit(&format!("OpBranchConditional %t{id} %body{id} %over{id} %body{id} = OpLabel"));
                self.statements(depth - 1);
                self.emit(&format!("OpBranch %next{id} %next{id} = OpLabel %k{id} = OpLoad %int %index{depth}"));
                self.emit(&format!("%j{id} = OpIAdd %int %k{id} %i1 OpStore %index{depth} %j{id} OpBranch %head{id} %over{id} = OpLabel"));
                self.inner = outer;
            }
        }
    }
}

const DECORATIONS: &str =
    "OpDecorate %tex DescriptorSet 0 OpDecorate %tex Binding 1 OpDecorate %sam DescriptorSet 0 OpDecorate %sam Binding 2";

const DECLARATIONS: &str = "
    %pf = OpTypePointer Function %float %pi = OpTypePointer Function %int %pb = OpTypePointer Function %bool
    %u4_ = OpConstant %uint 4 %array = OpTypeArray %float %u4_ %pa = OpTypePointer Function %array
    %tenth = OpConstant %float 0.1 %seven = OpConstant %float 7 %i3 = OpConstant %int 3 %i63 = OpConstant %int 63
    %true = OpConstantTrue %bool %ft = OpTypeFunction %float %float %i2 = OpTypeVector %int 2 %eighth = OpConstant %float 0.125
    %img = OpTypeImage %float 2D 0 0 0 1 Unknown %simg = OpTypeSampledImage %img %smp = OpTypeSampler
    %pimg = OpTypePointer UniformConstant %img %psmp = OpTypePointer UniformConstant %smp
    %tex = OpVariable %pimg UniformConstant %sam = OpVariable %psmp UniformConstant
";

const BEFORE: &str = "
    %f_0 = OpVariable %pf Function %f_1 = OpVariable %pf Function %f_2 = OpVariable %pf Function %f_3 = OpVariable %pf Function
    %n_0 = OpVariable %pi Function %n_1 = OpVariable %pi Function %b_0 = OpVariable %pb Function %b_1 = OpVariable %pb Function
    %cells = OpVariable %pa Function
    %index1 = OpVariable %pi Function %index2 = OpVariable %pi Function
    OpStore %out %grey OpStore %f_0 %tenth OpStore %f_1 %half OpStore %f_2 %f2 OpStore %b_0 %true OpStore %n_0 %i0
    %c = OpLoad %v4 %coord %cx = OpCompositeExtract %float %c 0 %cy = OpCompositeExtract %float %c 1
    %i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %iy = OpCompositeExtract %float %i 1
    %t = OpLoad %img %tex %s = OpLoad %smp %sam %xy = OpVectorShuffle %v2 %c %c 0 1 %uv = OpVectorTimesScalar %v2 %xy %eighth
    %xi = OpConvertFToS %int %cx OpStore %n_1 %xi OpStore %f_3 %ix
    %less = OpFOrdLessThan %bool %cx %cy OpStore %b_1 %less
    %cell0 = OpAccessChain %pf %cells %i0 OpStore %cell0 %cx %cell1 = OpAccessChain %pf %cells %i1 OpStore %cell1 %iy
    %cell3 = OpAccessChain %pf %cells %i3 OpStore %cell3 %tenth
";

const AFTER: &str = "%r0 = OpLoad %float %f_0 %r1 = OpLoad %float %f_1 %r2 = OpLoad %float %f_2 %r3 = OpLoad %float %f_3
    %o = OpCompositeConstruct %v4 %r0 %r1 %r2 %r3 OpStore %out %o OpReturn OpFunctionEnd
    %half_of = OpFunction %float None %ft %param = OpFunctionParameter %float %begins = OpLabel
    %halved = OpFMul %float %param %half OpReturnValue %halved OpFunctionEnd";

/// A fragment stage with this body, before what it shows.
fn stage(body: &str) -> Module {
    let text = fragment_text("", DECORATIONS, DECLARATIONS, &format!("{BEFORE} {body} {AFTER}"));
    let text = text.replacen("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel", 1);
    load(text.strip_suffix("OpReturn OpFunctionEnd").expect("the end of the module"))
}

fn generated(seed: u64) -> String {
    let mut body = Body { state: seed, next: 1000, text: String::new(), inner: None };
    for _ in 0..3 {
        body.statements(2);
    }
    body.text
}

fn scene(fragment: Module, format: Format) -> Scene {
    let corners = [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
    let mut scene = Scene::new(passing(), fragment, &corners);
    scene.attributes.push(floats(1, Rate::Vertex, &[[0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0], [0.0, 0.7, 0.0, 1.0]]));
    scene.targets = vec![target(0, format, [0; 4])];
    let mut image =
        Image::new(if format == Format::Rgba32Sfloat { Format::Rgba32Sfloat } else { Format::Rgba8Unorm }, 4, 4, 1).expect("an image");
    let bytes = image.bytes(0).map_or(0, <[u8]>::len);
    let texels =
        (0..bytes).map(|at| if format == Format::Rgba32Sfloat { (at as f32 / 64.0).to_le_bytes()[at % 4] } else { (at * 37) as u8 });
    image.fill(0, &texels.collect::<Vec<_>>()).expect("a level");
    scene.images = vec![BoundImage { set: 0, binding: 1, image }];
    let filter = if format == Format::Rgba32Sfloat { Filter::Nearest } else { Filter::Linear };
    let sampler = Sampler { mag: filter, min: filter, ..Sampler::default() };
    scene.samplers = vec![BoundSampler { set: 0, binding: 2, sampler }];
    scene
}

fn run(scene: &Scene, machine: Option<&FragmentProgram>, sink: &mut dyn Sink) -> Outcome<DrawObservation> {
    let sets = Some(Rules::default());
    let by = By { relation: &scene.relation, rules: &scene.rules, schedule: &scene.schedule, sets, machine };
    scene.with(|draw| draw::run_with(&scene.vertex, &scene.fragment, draw, &by, sink).expect("the entry points"))
}

/// Counts the rules that the relation applies.
#[derive(Default)]
struct Applied(u64);

impl Sink for Applied {
    fn event(&mut self, _: &Event<'_, '_>) {
        self.0 += 1;
    }
}

/// How often the engines agree on a component, by what it is.
#[derive(Default, Debug)]
struct Counts {
    exactly: u32,
    sets: u32,
    open: u32,
    /// Decided by the machine alone.
    more: u32,
    undefined: u32,
    /// Rules that the relation applies to definite values: by itself, and beside the machine.
    alone: u64,
    beside: u64,
}

/// Where the machine shows something else than the relation, if that is not only more precise.
fn difference(relation: &DrawObservation, machine: &DrawObservation, counts: &mut Counts) -> Option<String> {
    let (one, other) = (&relation.targets[0], &machine.targets[0]);
    if one.image != other.image {
        return Some("definite texels".into());
    }
    for (x, y, c) in (0..8).flat_map(|y| (0..8).flat_map(move |x| (0..4).map(move |c| (x, y, c)))) {
        let [one, other] = [one, other].map(|target| target.component(x, y, c).expect("a component"));
        let count = match (&one, &other) {
            (Component::Undecided(_), Component::Undecided(_)) => &mut counts.open,
            (Component::Undecided(_), _) => &mut counts.more,
            (one, other) if one != other => return Some(format!("({x}, {y}), {c}: {other:?}, not {one:?}")),
            (Component::Exactly(_), _) => &mut counts.exactly,
            (Component::Undefined(_), _) => &mut counts.undefined,
            _ => &mut counts.sets,
        };
        *count += 1;
    }
    None
}

/// Both engines over a stage; what differs.
fn compared(fragment: Module, machine: &FragmentProgram, format: Format, counts: &mut Counts) -> Option<String> {
    let scene = scene(fragment, format);
    let (mut alone, mut beside) = (Applied::default(), Applied::default());
    let outcomes = (run(&scene, None, &mut alone), run(&scene, Some(machine), &mut beside));
    (counts.alone, counts.beside) = (counts.alone + alone.0, counts.beside + beside.0);
    match outcomes {
        (Outcome::Observed(relation), Outcome::Observed(machine)) => difference(&relation, &machine, counts),
        (relation, machine) => {
            let [a, b] = [relation, machine].map(|outcome| format!("{:?}", outcome.map(|_| ())));
            (a != b).then(|| format!("{b}, not {a}"))
        }
    }
}

#[test]
fn generated_stages_are_judged_as_by_the_relation() {
    let mut counts = Counts::default();
    for seed in 0..400 {
        let body = generated(seed);
        let module = stage(&body);
        let machine = FragmentProgram::compile(&module, "fs").expect("a stage that the machine takes");
        let format = [Format::Rgba32Sfloat, Format::Rgba8Unorm][seed as usize % 2];
        if let Some(difference) = compared(module, &machine, format, &mut counts) {
            panic!("program {seed}: {difference}\n{body}");
        }
    }
    println!("{counts:?}");
    // The machine runs most of it.
    assert!(counts.beside < counts.alone / 3, "{counts:?}");
    assert!(counts.sets > 5_000 && counts.exactly > 5_000 && counts.undefined > 100, "{counts:?}");
}

type Bug = fn(Parts<'_>);

/// Bugs in what the machine runs, which the comparison must find.
#[rustfmt::skip]
const BUGS: &[(&str, Bug)] = &[
    ("a sum for a difference", |parts| sites(parts, Core::FSub, Core::FAdd)),
    ("a product for a quotient", |parts| sites(parts, Core::FDiv, Core::FMul)),
    ("less for greater", |parts| sites(parts, Core::FOrdGreaterThan, Core::FOrdLessThan)),
    ("a disjunction for a conjunction", |parts| sites(parts, Core::LogicalAnd, Core::LogicalOr)),
    ("edges that copy to each other", |parts| parts.moves.iter_mut().for_each(|step| std::mem::swap(&mut step.to, &mut step.from))),
    ("the other operand of selections", |parts| codes(parts, |code| matches!(code.op, Op::Select), |code| std::mem::swap(&mut code.a, &mut code.b))),
    ("texels by columns for rows", |parts| parts.images.iter_mut().for_each(|access| access.choosing[0].1.swap(0, 1))),
    ("another component of a gather", |parts| parts.images.iter_mut().for_each(|access| access.component ^= 1)),
    ("differences by columns for rows", |parts| codes(parts, |code| code.op == Op::Derivative, |code| code.c ^= 1)),
    ("stores to the element before", |parts| codes(parts, |code| code.op == Op::StoreLocal && code.c > 0, |code| code.c -= 1)),
];

fn codes(parts: Parts<'_>, is: fn(&Code) -> bool, change: fn(&mut Code)) {
    parts.codes.iter_mut().filter(|code| is(code)).for_each(change);
}

fn sites(parts: Parts<'_>, from: Core, to: Core) {
    let [from, to] = [from, to].map(|op| operation::core(op).expect("the table has it"));
    parts.sites.iter_mut().filter(|site| site.operation == from).for_each(|site| site.operation = to);
}

#[test]
fn planted_bugs_are_caught() {
    for (what, bug) in BUGS {
        let caught = (0..400).any(|seed| {
            let module = stage(&generated(seed));
            let machine = FragmentProgram::compile(&module, "fs").expect("a stage that the machine takes").planted(bug);
            compared(module, &machine, Format::Rgba32Sfloat, &mut Counts::default()).is_some()
        });
        assert!(caught, "{what}");
    }
}

/// A machine that is wrong is found by the relation's samples alone.
#[test]
fn a_sample_by_the_relation_finds_a_wrong_machine() {
    let module = stage("%x = OpFSub %float %cx %tenth OpStore %f_0 %x");
    let right = FragmentProgram::compile(&module, "fs").expect("a stage that the machine takes");
    let wrong = right.clone().planted(|parts| sites(parts, Core::FSub, Core::FAdd));
    let scene = scene(module, Format::Rgba32Sfloat);
    assert!(matches!(run(&scene, Some(&right), &mut ()), Outcome::Observed(_)));
    let Outcome::Stuck(stuck) = run(&scene, Some(&wrong), &mut ()) else { panic!("it is not found") };
    assert!(stuck.why.contains("the engines differ") && stuck.at.contains("pixel (0, 0)"), "{stuck:?}");
}
