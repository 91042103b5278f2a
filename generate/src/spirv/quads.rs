//! Draws whose fragment stages exercise quads. They have branches, loops, calls and discards that
//! depend on the pixel, derivatives, textures, helper invocations, sample masks, atomics, group
//! instructions, samples and depths. A draw is a function of its seed.
//!
//! Half of the stages compute floats from interpolated and sampled values, and write only colours.
//! These run over sets, and also on the lockstep machine and the relation. The other half may write
//! memory that invocations share, observe helper invocations, and write masks and depths. Some
//! stages of both halves have group instructions or are shaded once for each sample. The stages
//! also compute with undefined values, and a few draws have undefined behaviour.

use std::fmt::Write as _;

use smallstep_semantics::image::{Filter, Format, Image, Sampler};
use smallstep_semantics::spirv::{Options, assemble};

use crate::random::Random;

/// The usual number of lists of statements in a stage. Small draws have fewer.
pub const LISTS: u32 = 4;
/// The width and height of the attachments, in pixels.
pub const SIDE: u32 = 8;

/// The features of a draw's fragment stage and of its attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// The stage may observe helper invocations, write memory that invocations share, discard by
    /// demotion, and write masks.
    pub sees: bool,
    /// The stage has group instructions.
    pub groups: bool,
    /// The number of samples of a pixel.
    pub samples: u32,
    /// The stage reads SampleId, so it is shaded once for each sample.
    pub each_sample: bool,
    /// The draw has a depth attachment.
    pub depth: bool,
    /// The stage writes FragDepth.
    pub writes_depth: bool,
}

impl Mix {
    /// Floats only, with none of the other features.
    pub const FLOATS: Mix = Mix { sees: false, groups: false, samples: 1, each_sample: false, depth: false, writes_depth: false };

    fn drawn(random: &mut Random) -> Mix {
        let samples = if random.percent(25) { random.pick(&[2, 4, 4, 8]) } else { 1 };
        let depth = random.percent(30);
        let sees = random.percent(50);
        Mix {
            sees,
            groups: random.percent(20),
            samples,
            each_sample: samples > 1 && random.percent(40),
            depth,
            writes_depth: sees && depth && random.percent(40),
        }
    }
}

/// A generated draw: a list of triangles by two modules, over attachments of [`SIDE`] by [`SIDE`]
/// pixels. The vertex stage copies its attributes: the position from location 0, and four floats
/// from location 1. In set 0, binding 0 is a storage buffer, 1 a texture, and 2 a sampler.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The vertex stage, whose entry point is "vs".
    pub vertex: Vec<u32>,
    /// The fragment stage, whose entry point is "fs".
    pub fragment: Vec<u32>,
    /// The fragment stage as text.
    pub text: String,
    /// The features of the draw.
    pub mix: Mix,
    /// The positions of the vertices, three for each triangle.
    pub positions: Vec<[f32; 4]>,
    /// The interpolated floats of each vertex.
    pub given: Vec<[f32; 4]>,
    /// The format of the colour attachments. There is one for each sample, cleared to zeros.
    pub format: Format,
    /// The format of the depth attachments, if there are any. There is one for each sample, cleared
    /// to ones.
    pub depth: Option<Format>,
    /// The initial bytes of the storage buffer.
    pub buffer: Vec<u8>,
    /// The texture.
    pub texture: Image,
    /// The sampler.
    pub sampler: Sampler,
}

/// The draw of a seed. A draw with fewer lists of statements has the same beginning.
pub fn drawn(seed: u64, lists: u32) -> Drawn {
    let mut random = Random::new(seed ^ 0x7175_6164_7300);
    let mix = Mix::drawn(&mut random);
    of_mix(mix, random, lists)
}

/// A draw with these features.
pub fn of_mix(mix: Mix, mut random: Random, lists: u32) -> Drawn {
    let exact = random.percent(50);
    let format = if exact { Format::Rgba32Sfloat } else { Format::Rgba8Unorm };
    let depth = mix.depth.then(|| random.pick(&[Format::D32Sfloat, Format::D16Unorm]));
    let positions = scene(&mut random);
    let corners = [[0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0], [0.0, 0.7, 0.0, 1.0]];
    let given = corners.into_iter().cycle().take(positions.len()).collect();
    let (texture, sampler) = texture(exact);
    let mut body = Body { random, mix, next: 1000, text: String::new(), inner_loop: None };
    // On a path that does not store a mask, the mask is undefined.
    if mix.sees && body.random.percent(70) {
        body.emit("OpStore %maskw %u3");
    }
    if mix.writes_depth && body.random.percent(90) {
        body.emit("OpStore %deep %eighth");
    }
    for _ in 0..lists {
        body.statements(2);
    }
    let text = fragment(mix, &body.text);
    let assembled = |text: &str| {
        assemble(text, Options::default()).unwrap_or_else(|e| panic!("the generator writes what the assembler reads: {e}\n{text}"))
    };
    let (vertex, fragment) = (assembled(VERTEX), assembled(&text));
    Drawn { vertex, fragment, text, mix, positions, given, format, depth, buffer: vec![0; 16], texture, sampler }
}

/// A clip-space position from pixel coordinates, with its z.
fn at(x: f32, y: f32, z: f32) -> [f32; 4] {
    let side = SIDE as f32 / 2.0;
    [(x - side) / side, (y - side) / side, z, 1.0]
}

/// One or two triangles. They cover everything, or a half whose long edge passes through pixel
/// centres, or a few pixels, or one triangle covers another at other depths.
fn scene(random: &mut Random) -> Vec<[f32; 4]> {
    let all = [at(0.0, 0.0, 0.5), at(20.0, 0.0, 0.5), at(0.0, 20.0, 0.5)];
    let half = [at(0.0, 0.0, 0.5), at(8.0, 0.0, 0.5), at(0.0, 8.0, 0.5)];
    let small = [at(2.25, 3.25, 0.5), at(6.75, 3.25, 0.5), at(2.25, 5.25, 0.5)];
    let steep = [at(0.0, 0.0, 0.0), at(20.0, 0.0, 1.0), at(0.0, 20.0, 0.25)];
    let slanted = [at(1.0, 0.375, 0.125), at(7.625, 3.75, 0.75), at(2.5, 7.875, 0.25)];
    match random.below(7) {
        0 => all.to_vec(),
        1 => half.to_vec(),
        2 => small.to_vec(),
        3 => slanted.to_vec(),
        4 => [all, small].concat(),
        5 => [steep, slanted].concat(),
        _ => [slanted, half].concat(),
    }
}

/// A texture and its sampler. It holds floats that are fetched exactly, or 8-bit codes that
/// are filtered.
fn texture(exact: bool) -> (Image, Sampler) {
    let (format, filter) = if exact { (Format::Rgba32Sfloat, Filter::Nearest) } else { (Format::Rgba8Unorm, Filter::Linear) };
    let mut image = Image::new(format, 4, 4, 1).expect("a small image");
    let texels = match exact {
        true => (0..64).flat_map(|at| (at as f32 / 16.0).to_le_bytes()).collect(),
        false => (0..64u8).map(|at| at.wrapping_mul(37)).collect::<Vec<u8>>(),
    };
    image.fill(0, &texels).expect("the bytes of its level");
    (image, Sampler { mag: filter, min: filter, ..Sampler::default() })
}

/// A body under construction. Floats are in the variables %f_0 to %f_3, integers in %n_0 and %n_1,
/// Booleans in %b_0 and %b_1. %cells is an array of four floats.
struct Body {
    random: Random,
    mix: Mix,
    next: u32,
    text: String,
    /// The number of the innermost enclosing loop, if there is one.
    inner_loop: Option<u32>,
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
        self.random.below(bound as u32) as usize
    }

    /// A new id.
    fn id(&mut self) -> String {
        self.next += 1;
        format!("%x{}", self.next)
    }

    /// Emits an instruction and returns its result id.
    fn make(&mut self, instruction: &str) -> String {
        let id = self.id();
        let _ = writeln!(self.text, "{id} = {instruction}");
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

    /// A pointer to an element of `%cells`.
    fn cell(&mut self) -> String {
        let index = self.integer();
        let index = self.make(&format!("OpBitwiseAnd %int {index} %i3"));
        self.make(&format!("OpAccessChain %pf %cells {index}"))
    }

    fn integer(&mut self) -> String {
        match self.below(7) {
            0 => "%i1".into(),
            1 => "%i3".into(),
            2 => "%xi".into(),
            3 if self.mix.each_sample => "%sample".into(),
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
            // The parity of the pixel, which is the same on every device.
            4 => {
                let along = ["%xi", "%yi"][self.below(2)];
                let index = self.make(&format!("OpBitwiseAnd %int {along} %i1"));
                self.make(&format!("OpIEqual %bool {index} %i0"))
            }
            5 if self.mix.sees => self.make("OpIsHelperInvocationEXT %bool"),
            _ => self.compared(),
        }
    }

    fn compared(&mut self) -> String {
        let (a, b, op) = (self.float(), self.float(), COMPARISONS[self.below(8)]);
        self.make(&format!("Op{op} %bool {a} {b}"))
    }

    fn store_float(&mut self, value: &str) {
        let to = self.below(4);
        self.emit(&format!("OpStore %f_{to} {value}"));
    }

    fn branch(&mut self, depth: u32, mut emit_branch: impl FnMut(&mut Body, &str)) {
        let condition = self.truth();
        let id = self.id();
        let else_label = if self.below(2) == 0 { "no" } else { "merge" };
        let name = id[1..].to_string();
        self.emit(&format!("OpSelectionMerge %merge{name} None OpBranchConditional {condition} %yes{name} %{else_label}{name}"));
        self.emit(&format!("%yes{name} = OpLabel"));
        emit_branch(self, &name);
        if else_label == "no" {
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
        if self.mix.sees && self.random.percent(20) {
            return self.helper_operation();
        }
        if self.mix.groups && self.random.percent(25) {
            return self.group();
        }
        match self.below(if depth == 0 { 19 } else { 27 }) {
            0..=4 => {
                let (a, b, op) = (self.float(), self.float(), ["FAdd", "FSub", "FMul", "FMul", "FDiv"][self.below(5)]);
                let x = self.make(&format!("Op{op} %float {a} {b}"));
                self.store_float(&x);
            }
            5 => {
                let a = self.float();
                let x = self.make(&format!("OpFNegate %float {a}"));
                self.store_float(&x);
            }
            6 | 7 => {
                let (a, op) = (self.float(), OF_ONE[self.below(14)]);
                let x = self.make(&format!("OpExtInst %float %glsl {op} {a}"));
                self.store_float(&x);
            }
            8 => {
                let (a, b, op) = (self.float(), self.float(), OF_TWO[self.below(5)]);
                let x = self.make(&format!("OpExtInst %float %glsl {op} {a} {b}"));
                self.store_float(&x);
            }
            9 => {
                let (a, b, c, op) = (self.float(), self.float(), self.float(), OF_THREE[self.below(4)]);
                let x = self.make(&format!("OpExtInst %float %glsl {op} {a} {b} {c}"));
                self.store_float(&x);
            }
            10 => self.vector_operation(),
            11 => {
                let (condition, a, b) = (self.truth(), self.float(), self.float());
                let x = self.make(&format!("OpSelect %float {condition} {a} {b}"));
                self.store_float(&x);
            }
            12 => {
                let a = self.float();
                let small = self.make(&format!("OpExtInst %float %glsl FClamp {a} %f0 %seven"));
                let x = self.make(&format!("OpConvertFToS %int {small}"));
                self.store_integer(&x);
            }
            13 => {
                let (a, b, op) = (self.integer(), self.integer(), ["IAdd", "ISub", "IMul", "BitwiseXor"][self.below(4)]);
                let x = self.make(&format!("Op{op} %int {a} {b}"));
                let x = self.make(&format!("OpBitwiseAnd %int {x} %i63"));
                self.store_integer(&x);
            }
            14 => {
                let a = self.integer();
                let x = self.make(&format!("OpConvertSToF %float {a}"));
                self.store_float(&x);
            }
            15 => {
                let (at, a) = (self.cell(), self.float());
                self.emit(&format!("OpStore {at} {a}"));
            }
            16 => {
                let (condition, to) = (self.truth(), self.below(2));
                self.emit(&format!("OpStore %b_{to} {condition}"));
            }
            17 => match self.below(3) {
                0 => {
                    let (a, op, kind) = (self.float(), ["DPdx", "DPdy", "Fwidth"][self.below(3)], ["", "Fine", "Coarse"][self.below(3)]);
                    let x = self.make(&format!("Op{op}{kind} %float {a}"));
                    self.store_float(&x);
                }
                1 => {
                    let x = self.make("OpFunctionCall %float %along");
                    self.store_float(&x);
                }
                _ => {
                    let a = self.float();
                    let x = self.make(&format!("OpFunctionCall %float %half_of {a}"));
                    self.store_float(&x);
                }
            },
            18 => self.texel(),
            19..=21 => self.branch(depth - 1, |body, merge| {
                body.statements(depth - 1);
                body.emit(&format!("OpBranch %merge{merge}"));
            }),
            22 => {
                let end = ["OpKill", "OpReturn", "OpTerminateInvocation"][self.below(3)];
                self.branch(0, |body, _| body.emit(end));
            }
            23 if self.inner_loop.is_some() => {
                let (loop_number, target) = (self.inner_loop.unwrap_or_default(), ["over", "next"][self.below(2)]);
                self.branch(depth - 1, |body, _| body.emit(&format!("OpBranch %{target}{loop_number}")));
            }
            _ => self.repeat(depth),
        }
    }

    fn store_integer(&mut self, value: &str) {
        let to = self.below(2);
        self.emit(&format!("OpStore %n_{to} {value}"));
    }

    fn vector_operation(&mut self) {
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
                let normalized = self.make(&format!("OpExtInst %v2 %glsl Normalize {v}"));
                self.make(&format!("OpCompositeExtract %float {normalized} 0"))
            }
        };
        self.store_float(&x);
    }

    fn texel(&mut self) {
        let [a, b] = [0, 1].map(|_| self.float());
        let at = match self.below(3) {
            0 => "%uv".into(),
            _ => self.make(&format!("OpCompositeConstruct %v2 {a} {b}")),
        };
        let texel = match self.below(4) {
            0 => {
                let (i, j) = (self.integer(), self.integer());
                let [i, j] = [i, j].map(|operand| self.make(&format!("OpBitwiseAnd %int {operand} %i3")));
                let at = self.make(&format!("OpCompositeConstruct %i2 {i} {j}"));
                self.make(&format!("OpImageFetch %v4 %t {at} Lod %i0"))
            }
            k => {
                let sampled = self.make("OpSampledImage %simg %t %s");
                self.make(&match k {
                    1 => format!("OpImageSampleImplicitLod %v4 {sampled} {at}"),
                    2 => format!("OpImageGather %v4 {sampled} {at} %i1"),
                    _ => format!("OpImageSampleExplicitLod %v4 {sampled} {at} Lod %f0"),
                })
            }
        };
        let part = self.below(4);
        let x = self.make(&format!("OpCompositeExtract %float {texel} {part}"));
        self.store_float(&x);
    }

    fn repeat(&mut self, depth: u32) {
        let id = self.next + 1;
        self.next = id;
        let outer = self.inner_loop.replace(id);
        let bound = ["%i1", "%i3", "%xi"][self.below(3)];
        self.emit(&format!("OpStore %index{depth} %i0 OpBranch %head{id} %head{id} = OpLabel"));
        self.emit(&format!("OpLoopMerge %over{id} %next{id} None OpBranch %test{id} %test{id} = OpLabel"));
        self.emit(&format!("%l{id} = OpLoad %int %index{depth} %t{id} = OpSLessThan %bool %l{id} {bound}"));
        self.emit(&format!("OpBranchConditional %t{id} %body{id} %over{id} %body{id} = OpLabel"));
        self.statements(depth - 1);
        self.emit(&format!("OpBranch %next{id} %next{id} = OpLabel %k{id} = OpLoad %int %index{depth}"));
        self.emit(&format!("%j{id} = OpIAdd %int %k{id} %i1 OpStore %index{depth} %j{id} OpBranch %head{id} %over{id} = OpLabel"));
        self.inner_loop = outer;
    }

    /// Emits an operation of a stage with `sees`: it observes helper invocations or the sample
    /// mask, adds to a word of the buffer, demotes, uses an undefined value, or writes a mask or
    /// a depth.
    fn helper_operation(&mut self) {
        match self.below(if self.mix.writes_depth { 7 } else { 6 }) {
            0 => {
                let a = self.float();
                let is_helper = self.make("OpIsHelperInvocationEXT %bool");
                let x = self.make(&format!("OpSelect %float {is_helper} {a} %f2"));
                self.store_float(&x);
            }
            1 => {
                let word = self.make("OpLoad %int %seenw");
                let x = self.make(&format!("OpConvertSToF %float {word}"));
                self.store_float(&x);
            }
            2 => {
                let (condition, [then_mask, else_mask]) = (self.truth(), [0, 1].map(|_| ["%u3", "%u2", "%u5", "%uall"][self.below(4)]));
                let word = self.make(&format!("OpSelect %uint {condition} {then_mask} {else_mask}"));
                self.emit(&format!("OpStore %maskw {word}"));
            }
            3 => _ = self.make("OpAtomicIAdd %uint %q %u1 %u0 %u1"),
            4 => self.branch(0, |body, merge| body.emit(&format!("OpDemoteToHelperInvocation OpBranch %merge{merge}"))),
            // An undefined value.
            5 => {
                let x = self.make("OpUndef %float");
                self.store_float(&x);
            }
            _ => {
                let a = self.float();
                let clamped = self.make(&format!("OpExtInst %float %glsl FClamp {a} %f0 %f1"));
                self.emit(&format!("OpStore %deep {clamped}"));
            }
        }
    }

    /// Emits group instructions: quad instructions, which are the same on every device, and others.
    fn group(&mut self) {
        match self.below(15) {
            0..=2 => {
                let (a, direction) = (self.float(), ["%u0", "%u1", "%u2"][self.below(3)]);
                let x = self.make(&format!("OpGroupNonUniformQuadSwap %float %subgroup {a} {direction}"));
                self.store_float(&x);
            }
            3..=5 => {
                let (a, lane) = (self.float(), ["%u0", "%u1", "%u2", "%u3"][self.below(4)]);
                let x = self.make(&format!("OpGroupNonUniformQuadBroadcast %float %subgroup {a} {lane}"));
                self.store_float(&x);
            }
            6 => {
                let (a, lane) = (self.integer(), ["%u0", "%u1", "%u2", "%u3"][self.below(4)]);
                let x = self.make(&format!("OpGroupNonUniformQuadBroadcast %int %subgroup {a} {lane}"));
                self.store_integer(&x);
            }
            7 => {
                let (a, to, op) = (self.truth(), self.below(2), ["All", "Any"][self.below(2)]);
                let x = self.make(&format!("OpGroupNonUniform{op} %bool %subgroup {a}"));
                self.emit(&format!("OpStore %b_{to} {x}"));
            }
            8 => {
                let (a, op) = (self.integer(), ["IAdd", "SMax", "BitwiseAnd"][self.below(3)]);
                let x = self.make(&format!("OpGroupNonUniform{op} %int %subgroup Reduce {a}"));
                let x = self.make(&format!("OpBitwiseAnd %int {x} %i63"));
                self.store_integer(&x);
            }
            9 => {
                let a = self.float();
                let x = self.make(&format!("OpGroupNonUniformBroadcastFirst %float %subgroup {a}"));
                self.store_float(&x);
            }
            10 | 11 => {
                let (a, op) = (self.truth(), ["BitCount", "FindLSB", "FindMSB"][self.below(3)]);
                let ballot = self.make(&format!("OpGroupNonUniformBallot %ballots %subgroup {a}"));
                let scan = if op == "BitCount" { ["Reduce ", "InclusiveScan ", "ExclusiveScan "][self.below(3)] } else { "" };
                let x = self.make(&format!("OpGroupNonUniformBallot{op} %uint %subgroup {scan}{ballot}"));
                let x = self.make(&format!("OpBitcast %int {x}"));
                self.store_integer(&x);
            }
            12 => {
                let (a, to) = (self.truth(), self.below(2));
                let ballot = self.make(&format!("OpGroupNonUniformBallot %ballots %subgroup {a}"));
                let x = self.make(&format!("OpGroupNonUniformInverseBallot %bool %subgroup {ballot}"));
                self.emit(&format!("OpStore %b_{to} {x}"));
            }
            13 => {
                let (a, op, cluster) = (self.integer(), ["IAdd", "SMin", "BitwiseXor"][self.below(3)], ["%u1", "%u2"][self.below(2)]);
                let x = self.make(&format!("OpGroupNonUniform{op} %int %subgroup ClusteredReduce {a} {cluster}"));
                let x = self.make(&format!("OpBitwiseAnd %int {x} %i63"));
                self.store_integer(&x);
            }
            _ => {
                let (a, lane, op) = (self.float(), self.integer(), ["Shuffle", "ShuffleXor", "ShuffleUp", "ShuffleDown"][self.below(4)]);
                let lane = self.make(&format!("OpBitcast %uint {lane}"));
                let lane = self.make(&format!("OpBitwiseAnd %uint {lane} %u3"));
                let x = self.make(&format!("OpGroupNonUniform{op} %float %subgroup {a} {lane}"));
                self.store_float(&x);
            }
        }
    }
}

const VERTEX: &str = "
    OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Vertex %main \"vs\" %pos %a %position %v
    OpDecorate %pos Location 0 OpDecorate %a Location 1 OpDecorate %v Location 0 OpDecorate %position BuiltIn Position
    %void = OpTypeVoid %fn = OpTypeFunction %void %float = OpTypeFloat 32 %v4 = OpTypeVector %float 4
    %pin = OpTypePointer Input %v4 %pout = OpTypePointer Output %v4
    %pos = OpVariable %pin Input %a = OpVariable %pin Input %position = OpVariable %pout Output %v = OpVariable %pout Output
    %main = OpFunction %void None %fn %entry = OpLabel
    %p = OpLoad %v4 %pos OpStore %position %p %x = OpLoad %v4 %a OpStore %v %x OpReturn OpFunctionEnd";

const DECLARATIONS: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
    %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 %float = OpTypeFloat 32
    %v2 = OpTypeVector %float 2 %v4 = OpTypeVector %float 4 %i2 = OpTypeVector %int 2
    %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %f2 = OpConstant %float 2 %half = OpConstant %float 0.5
    %tenth = OpConstant %float 0.1 %seven = OpConstant %float 7 %eighth = OpConstant %float 0.125
    %u0 = OpConstant %uint 0 %u1 = OpConstant %uint 1 %u2 = OpConstant %uint 2 %u3 = OpConstant %uint 3 %u4 = OpConstant %uint 4
    %u5 = OpConstant %uint 5 %uall = OpConstant %uint 0xffffffff %subgroup = OpConstant %uint 3
    %i0 = OpConstant %int 0 %i1 = OpConstant %int 1 %i3 = OpConstant %int 3 %i63 = OpConstant %int 63
    %grey = OpConstantComposite %v4 %half %half %half %half %true = OpConstantTrue %bool
    %pin_v4 = OpTypePointer Input %v4 %pout_v4 = OpTypePointer Output %v4
    %coord = OpVariable %pin_v4 Input %in = OpVariable %pin_v4 Input %out = OpVariable %pout_v4 Output
    %pf = OpTypePointer Function %float %pi = OpTypePointer Function %int %pb = OpTypePointer Function %bool
    %array = OpTypeArray %float %u4 %pa = OpTypePointer Function %array
    %ft = OpTypeFunction %float %float %gt = OpTypeFunction %float
    %img = OpTypeImage %float 2D 0 0 0 1 Unknown %simg = OpTypeSampledImage %img %smp = OpTypeSampler
    %pimg = OpTypePointer UniformConstant %img %psmp = OpTypePointer UniformConstant %smp
    %tex = OpVariable %pimg UniformConstant %sam = OpVariable %psmp UniformConstant";

const BEFORE: &str = "
    %f_0 = OpVariable %pf Function %f_1 = OpVariable %pf Function %f_2 = OpVariable %pf Function %f_3 = OpVariable %pf Function
    %n_0 = OpVariable %pi Function %n_1 = OpVariable %pi Function %b_0 = OpVariable %pb Function %b_1 = OpVariable %pb Function
    %cells = OpVariable %pa Function
    %index1 = OpVariable %pi Function %index2 = OpVariable %pi Function
    OpStore %out %grey OpStore %f_0 %tenth OpStore %f_1 %half OpStore %f_2 %f2 OpStore %b_0 %true OpStore %n_0 %i0
    %c = OpLoad %v4 %coord %cx = OpCompositeExtract %float %c 0 %cy = OpCompositeExtract %float %c 1
    %i = OpLoad %v4 %in %ix = OpCompositeExtract %float %i 0 %iy = OpCompositeExtract %float %i 1
    %t = OpLoad %img %tex %s = OpLoad %smp %sam %xy = OpVectorShuffle %v2 %c %c 0 1 %uv = OpVectorTimesScalar %v2 %xy %eighth
    %xi = OpConvertFToS %int %cx %yi = OpConvertFToS %int %cy OpStore %n_1 %xi OpStore %f_3 %ix
    %less = OpFOrdLessThan %bool %cx %cy OpStore %b_1 %less
    %cell0 = OpAccessChain %pf %cells %i0 OpStore %cell0 %cx %cell1 = OpAccessChain %pf %cells %i1 OpStore %cell1 %iy
    %cell3 = OpAccessChain %pf %cells %i3 OpStore %cell3 %tenth";

const AFTER: &str = "%r0 = OpLoad %float %f_0 %r1 = OpLoad %float %f_1 %r2 = OpLoad %float %f_2 %r3 = OpLoad %float %f_3
    %o = OpCompositeConstruct %v4 %r0 %r1 %r2 %r3 OpStore %out %o OpReturn OpFunctionEnd
    %half_of = OpFunction %float None %ft %param = OpFunctionParameter %float %begins = OpLabel
    %halved = OpFMul %float %param %half OpReturnValue %halved OpFunctionEnd
    %along = OpFunction %float None %gt %de = OpLabel %dc = OpLoad %v4 %coord %dx = OpCompositeExtract %float %dc 0
    %dd = OpDPdx %float %dx OpReturnValue %dd OpFunctionEnd";

/// The parts of a module that a feature adds.
struct Part {
    capabilities: &'static str,
    interface: &'static str,
    modes: &'static str,
    decorations: &'static str,
    declarations: &'static str,
    before: &'static str,
}

const SEES: Part = Part {
    capabilities: "OpCapability DemoteToHelperInvocation OpExtension \"SPV_EXT_demote_to_helper_invocation\"
        OpExtension \"SPV_KHR_storage_buffer_storage_class\"",
    interface: "%seen %mask",
    modes: "",
    decorations: "OpDecorate %seen BuiltIn SampleMask OpDecorate %seen Flat OpDecorate %mask BuiltIn SampleMask
        OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0",
    declarations: "%words1 = OpTypeArray %int %u1 %uwords1 = OpTypeArray %uint %u1 %pseen = OpTypePointer Input %words1
        %pmask = OpTypePointer Output %uwords1 %seen = OpVariable %pseen Input %mask = OpVariable %pmask Output
        %pin_int = OpTypePointer Input %int %pout_uint = OpTypePointer Output %uint
        %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pblock = OpTypePointer StorageBuffer %block
        %buf = OpVariable %pblock StorageBuffer %pword = OpTypePointer StorageBuffer %uint",
    before: "%q = OpAccessChain %pword %buf %u0 %u1 %seenw = OpAccessChain %pin_int %seen %i0
        %maskw = OpAccessChain %pout_uint %mask %i0",
};

const GROUPS: Part = Part {
    capabilities: "OpCapability GroupNonUniform OpCapability GroupNonUniformVote OpCapability GroupNonUniformArithmetic
        OpCapability GroupNonUniformBallot OpCapability GroupNonUniformQuad OpCapability GroupNonUniformShuffle
        OpCapability GroupNonUniformShuffleRelative",
    interface: "",
    modes: "",
    decorations: "",
    declarations: "%ballots = OpTypeVector %uint 4",
    before: "",
};

/// Some devices have the other group instructions but not clusters.
const CLUSTERS: Part = Part { capabilities: "OpCapability GroupNonUniformClustered", declarations: "", ..GROUPS };

const EACH_SAMPLE: Part = Part {
    capabilities: "OpCapability SampleRateShading",
    interface: "%sampled",
    modes: "",
    decorations: "OpDecorate %sampled BuiltIn SampleId OpDecorate %sampled Flat",
    declarations: "%pin_sample = OpTypePointer Input %int %sampled = OpVariable %pin_sample Input",
    before: "%sample = OpLoad %int %sampled",
};

const WRITES_DEPTH: Part = Part {
    capabilities: "",
    interface: "%deep",
    modes: "OpExecutionMode %main DepthReplacing",
    decorations: "OpDecorate %deep BuiltIn FragDepth",
    declarations: "%pout_float = OpTypePointer Output %float %deep = OpVariable %pout_float Output",
    before: "",
};

/// The text of the fragment stage with this body.
fn fragment(mix: Mix, body: &str) -> String {
    let parts = [
        (mix.sees, SEES),
        (mix.groups, GROUPS),
        (body.contains("ClusteredReduce"), CLUSTERS),
        (mix.each_sample, EACH_SAMPLE),
        (mix.writes_depth, WRITES_DEPTH),
    ];
    let parts: Vec<Part> = parts.into_iter().filter(|(has, _)| *has).map(|(_, part)| part).collect();
    let all = |field: fn(&Part) -> &'static str| parts.iter().map(field).collect::<Vec<_>>().join(" ");
    // Capabilities stand before extensions.
    let capability_text = all(|part| part.capabilities);
    let (mut capabilities, mut extensions) = (String::new(), String::new());
    for word in capability_text.split("Op").filter(|word| !word.trim().is_empty()) {
        let to = if word.starts_with("Extension") { &mut extensions } else { &mut capabilities };
        let _ = write!(to, "Op{word} ");
    }
    let [interface, modes] = [all(|part| part.interface), all(|part| part.modes)];
    let [decorations, declarations, before] = [all(|part| part.decorations), all(|part| part.declarations), all(|part| part.before)];
    format!(
        "OpCapability Shader OpCapability DerivativeControl {capabilities}
        {extensions} OpExtension \"SPV_KHR_terminate_invocation\"
        %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"fs\" %coord %in %out {interface} OpExecutionMode %main OriginUpperLeft {modes}
        OpDecorate %coord BuiltIn FragCoord OpDecorate %in Location 0 OpDecorate %out Location 0
        OpDecorate %tex DescriptorSet 0 OpDecorate %tex Binding 1 OpDecorate %sam DescriptorSet 0 OpDecorate %sam Binding 2
        {decorations} {DECLARATIONS} {declarations}
        %main = OpFunction %void None %fn %entry = OpLabel {BEFORE} {before}
        {body} {AFTER}"
    )
}
