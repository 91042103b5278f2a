//! Generated fragment stages by both engines: branches, loops, calls, discards, derivatives,
//! helpers and masks, by the pixel's coordinates.

use std::fmt::Write;

use smallstep_semantics::outcome::Outcome;

use crate::*;

/// A body under way. Values are in the variables %value0 to %value3.
struct Body {
    state: u64,
    next: u32,
    text: String,
    /// The merge and the continue target of the loop that it is in.
    inner: Option<(u32, u32)>,
}

impl Body {
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.state >> 33) % bound
    }

    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn emit(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all");
        self.text.push('\n');
    }

    /// The value of a variable, or the first coordinate.
    fn value(&mut self) -> String {
        let id = self.id();
        match self.below(6) {
            4 => "%cx".into(),
            5 => "%cy".into(),
            variable => {
                self.emit(format_args!("%x{id} = OpLoad %float %value{variable}"));
                format!("%x{id}")
            }
        }
    }

    fn condition(&mut self) -> String {
        match self.below(12) {
            0 => {
                let (a, b, id) = (self.value(), self.value(), self.id());
                self.emit(format_args!("%x{id} = OpFOrdLessThan %bool {a} {b}"));
                format!("%x{id}")
            }
            1 => {
                let id = self.id();
                self.emit(format_args!("%x{id} = OpIsHelperInvocationEXT %bool"));
                format!("%x{id}")
            }
            number => format!("%b{}", number % 6),
        }
    }

    fn assign(&mut self, value: &str) {
        let to = self.below(4);
        self.emit(format_args!("OpStore %value{to} {value}"));
    }

    fn branch(&mut self, depth: u32, taken: impl FnOnce(&mut Body, u32)) {
        let (condition, id) = (self.condition(), self.id());
        let otherwise = if self.below(2) == 0 { "no" } else { "merge" };
        self.emit(format_args!("OpSelectionMerge %merge{id} None OpBranchConditional {condition} %yes{id} %{otherwise}{id}"));
        self.emit(format_args!("%yes{id} = OpLabel"));
        taken(self, id);
        if otherwise == "no" {
            self.emit(format_args!("%no{id} = OpLabel"));
            self.statements(depth);
            self.emit(format_args!("OpBranch %merge{id}"));
        }
        self.emit(format_args!("%merge{id} = OpLabel"));
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..=self.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let id = self.id();
        match self.below(if depth == 0 { 10 } else { 18 }) {
            0..=2 => {
                let (op, a, b) = (["FAdd", "FSub", "FMul"][self.below(3) as usize], self.value(), self.value());
                self.emit(format_args!("%x{id} = Op{op} %float {a} {b}"));
                self.assign(&format!("%x{id}"));
            }
            3..=5 => {
                let kind = ["", "Fine", "Coarse"][self.below(3) as usize];
                let (op, a) = (["DPdx", "DPdy", "Fwidth"][self.below(3) as usize], self.value());
                self.emit(format_args!("%x{id} = Op{op}{kind} %float {a}"));
                self.assign(&format!("%x{id}"));
            }
            6 => {
                self.emit(format_args!("%x{id} = OpFunctionCall %float %df"));
                self.assign(&format!("%x{id}"));
            }
            7 => {
                let a = self.value();
                self.emit(format_args!("%h{id} = OpIsHelperInvocationEXT %bool %x{id} = OpSelect %float %h{id} {a} %f2"));
                self.assign(&format!("%x{id}"));
            }
            8 => {
                self.emit(format_args!("%w{id} = OpLoad %int %seenw %x{id} = OpConvertSToF %float %w{id}"));
                self.assign(&format!("%x{id}"));
            }
            9 => {
                let condition = self.condition();
                self.emit(format_args!("%w{id} = OpSelect %uint {condition} %c3 %c2 OpStore %maskw %w{id}"));
            }
            10 => self.emit(format_args!("%x{id} = OpAtomicIAdd %uint %q %c1 %c0 %c1")),
            11 | 12 => self.branch(depth - 1, |body, id| {
                body.statements(depth - 1);
                body.emit(format_args!("OpBranch %merge{id}"));
            }),
            13 => {
                let end = ["OpKill", "OpTerminateInvocation", "OpReturn", "OpDemoteToHelperInvocation"][self.below(4) as usize];
                self.branch(0, |body, id| match end {
                    "OpDemoteToHelperInvocation" => body.emit(format_args!("{end} OpBranch %merge{id}")),
                    end => body.emit(format_args!("{end}")),
                });
            }
            14 if self.inner.is_some() => {
                let (merge, next) = self.inner.expect("it is");
                let target = if self.below(2) == 0 { format!("%merge{merge}") } else { format!("%next{next}") };
                self.branch(depth - 1, |body, _| body.emit(format_args!("OpBranch {target}")));
            }
            _ => {
                let outer = self.inner.replace((id, id));
                let bound = ["%c1", "%c2", "%n0", "%n1"][self.below(4) as usize];
                self.emit(format_args!("OpStore %index{depth} %c0 OpBranch %head{id} %head{id} = OpLabel"));
                self.emit(format_args!("OpLoopMerge %merge{id} %next{id} None OpBranch %test{id} %test{id} = OpLabel"));
                self.emit(format_args!("%l{id} = OpLoad %uint %index{depth} %t{id} = OpULessThan %bool %l{id} {bound}"));
                self.emit(format_args!("OpBranchConditional %t{id} %body{id} %merge{id} %body{id} = OpLabel"));
                self.statements(depth - 1);
                self.emit(format_args!("OpBranch %next{id} %next{id} = OpLabel %k{id} = OpLoad %uint %index{depth}"));
                self.emit(format_args!(
                    "%j{id} = OpIAdd %uint %k{id} %c1 OpStore %index{depth} %j{id} OpBranch %head{id} %merge{id} = OpLabel"
                ));
                self.inner = outer;
            }
        }
    }
}

const BEFORE: &str = "
    %value0 = OpVariable %pf Function %value1 = OpVariable %pf Function %value2 = OpVariable %pf Function %value3 = OpVariable %pf Function
    %index1 = OpVariable %pu Function %index2 = OpVariable %pu Function %index3 = OpVariable %pu Function
    OpStore %out %grey OpStore %value0 %f0 OpStore %value1 %half OpStore %value2 %f2 %undef = OpUndef %float OpStore %value3 %undef
    %c = OpLoad %v4 %coord %cx = OpCompositeExtract %float %c 0 %cy = OpCompositeExtract %float %c 1
    %xi = OpConvertFToU %uint %cx %yi = OpConvertFToU %uint %cy %n0 = OpBitwiseAnd %uint %xi %c3 %n1 = OpBitwiseAnd %uint %yi %c1
    %x1 = OpBitwiseAnd %uint %xi %c1 %x2 = OpBitwiseAnd %uint %xi %c2 %y2 = OpBitwiseAnd %uint %yi %c2
    %b0 = OpINotEqual %bool %x1 %c0 %b1 = OpINotEqual %bool %n1 %c0 %b2 = OpINotEqual %bool %x2 %c0 %b3 = OpINotEqual %bool %y2 %c0
    %b4 = OpLogicalEqual %bool %b0 %b1 %b5 = OpFOrdLessThan %bool %cx %cy
    %q = OpAccessChain %pword %buf %c0 %c1 %seenw = OpAccessChain %pin_int %seen %i0 %maskw = OpAccessChain %pout_uint %mask %i0
";

fn generated(seed: u64) -> Module {
    let mut body = Body { state: seed, next: 1000, text: BEFORE.into(), inner: None };
    // A mask that some of them never store is undefined there.
    if !seed.is_multiple_of(3) {
        body.emit(format_args!("OpStore %maskw %c1"));
    }
    for _ in 0..4 {
        body.statements(3);
    }
    let after = "%r0 = OpLoad %float %value0 %r1 = OpLoad %float %value1 %r2 = OpLoad %float %value2 %r3 = OpLoad %float %value3
        %o = OpCompositeConstruct %v4 %r0 %r1 %r2 %r3 OpStore %out %o OpReturn OpFunctionEnd
        %df = OpFunction %float None %ft %de = OpLabel %dc = OpLoad %v4 %coord %dx = OpCompositeExtract %float %dc 0
        %dd = OpDPdx %float %dx OpReturnValue %dd OpFunctionEnd";
    let declarations = format!(
        "%ft = OpTypeFunction %float %pf = OpTypePointer Function %float %pu = OpTypePointer Function %uint {}",
        built_ins::DECLARATIONS
    );
    // The body ends the function itself, and another follows.
    let text = fragment_text("%seen %mask", built_ins::DECORATIONS, &declarations, &format!("{} {after}", body.text));
    load(text.strip_suffix("OpReturn OpFunctionEnd").expect("the end of the module"))
}

/// Both engines end alike. Of several invocations that meet undefined behaviour, the order of turns
/// says which is first.
#[test]
fn generated_stages_show_the_same() {
    let small = [at(2.25, 3.25, 0.5, 1.0), at(6.75, 3.25, 0.5, 1.0), at(2.25, 5.25, 0.5, 1.0)];
    let two = [ALL, small].concat();
    let mut ends = [0; 3];
    for seed in 0..400 {
        let scene = Scene::new(vertex("", "", "", ""), generated(seed), [&ALL[..], &HALF, &small, &two][seed as usize % 4]);
        let kind = |outcome: &Outcome<_>| match outcome {
            Outcome::Observed(_) => 0,
            Outcome::Undefined(_) => 1,
            _ => 2,
        };
        let outcome = scene.relation_alone();
        ends[kind(&outcome)] += 1;
        let picture = scene.with(|draw| machine::run(&scene, draw));
        match (&outcome, &picture) {
            (Outcome::Undefined(one), Outcome::Undefined(other)) => assert_eq!(one.ub, other.ub, "seed {seed}"),
            _ => machine::agrees(&outcome, &picture),
        }
    }
    assert!(ends[0] > 200 && ends[1] > 10 && ends[2] == 0, "{ends:?}");
}
