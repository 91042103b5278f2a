//! The checks that catch planted mistakes beside the campaign.

use super::{Bug, Caught, Hunt, reduced};
use crate::theorem::case::{Case, NoCase, Planted, Settings};
use crate::theorem::second;
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Tree;
use smallstep_semantics::lambda_v::typing;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv;
use smallstep_semantics::undefined::Ub;
use std::process::Command;

/// Ill-typed programs, each with the rule that must reject it.
pub const ILL_TYPED: &[(&str, &str)] = &[
    ("(+ 1 (2 3))", "lv/t-num"),
    ("(if (true 2) 1 2)", "lv/t-true"),
    ("(if (false) 1 2)", "lv/t-false"),
    ("((rec-func (n) (if (less-than n 1) (n 1) (rec (- n 1)))) 2)", "lv/t-param"),
    ("(if 1 2 3)", "lv/t-if"),
    ("(if (bvec2 true false) 2 3)", "lv/t-if"),
    ("(if true 1 false)", "lv/t-if"),
    ("(if true 1 (vec2 1 2))", "lv/t-if"),
    ("()", "lv/t-app"),
    ("((func (a) a) 1 2)", "lv/t-func"),
    ("((func (a b) a) 1)", "lv/t-func"),
    ("(+ (vec2 1 2) 3)", "lv/t-builtin"),
    ("(+ 3 (vec2 1 2))", "lv/t-builtin"),
    ("(+ 1 true)", "lv/t-builtin"),
    ("(select true 1 false)", "lv/t-builtin"),
    ("(mat2 (vec2 1 2) (vec3 1 2 3))", "lv/t-builtin"),
    ("((rec-func (n) (+ n 1)) 1)", "lv/t-rec-func"),
    ("((rec-func (n) (rec n)) 1)", "lv/t-rec-func"),
    (
        "((rec-func (n) (if (less-than n 1) (rec 2) ((rec-func (m) (if (less-than m 1) m (rec (- m 1)))) (rec (- n 1))))) 1)",
        "lv/t-rec-func",
    ),
    ("((rec-func (n) (if (less-than n 1) n (rec true))) 1)", "lv/t-rec"),
    ("((rec-func (n) (if (less-than n 1) n (rec (- n 1) 2))) 1)", "lv/t-rec"),
    ("((rec-func (n m) (if (less-than n 1) n (rec m))) 1 2)", "lv/t-rec"),
    ("((rec-func (n) (if (less-than n 1) n (+ 1 (rec (- n 1))))) 1)", "lv/t-rec"),
    (
        "((rec-func (n) (if (less-than n 1) n (let ((out rec)) ((rec-func (m) (if (less-than m 1) m (if (less-than m 2) (out 0) (rec (- m 1))))) n)))) 2)",
        "lv/t-rec",
    ),
];

/// The result of typing for a program: the code of its error, or `accepted`.
pub(super) fn code(tree: &Tree, settings: &Settings) -> String {
    match Program::resolve(tree) {
        Err(e) => e.code.to_string(),
        Ok(program) => match typing::infer_planted(&program, settings.limits, settings.planted.typing) {
            Err(e) => e.code().to_string(),
            Ok(_) => "accepted".to_string(),
        },
    }
}

/// The first of [`ILL_TYPED`] that its rule does not reject, made minimal.
pub(super) fn ill_typed_accepted(settings: &Settings, tries: u32) -> Option<Caught> {
    ILL_TYPED.iter().enumerate().find_map(|(i, (text, expected))| {
        let tree = parse(text).ok()?;
        let found = code(&tree, settings);
        (found != *expected).then(|| Caught {
            by: "near-misses made by hand".into(),
            what: format!("{text} must be rejected by {expected} and is: {found}"),
            after: i as u64 + 1,
            minimal: Some(minimal_near_miss(&tree, expected, settings, tries)),
        })
    })
}

/// The smallest program found that the sound rule rejects and the rule with the planted mistake
/// does not.
pub(super) fn minimal_near_miss(tree: &Tree, expected: &str, settings: &Settings, tries: u32) -> Tree {
    let sound = Settings { planted: Planted::default(), ..settings.clone() };
    let mut same = |tree: &Tree| code(tree, settings) != expected && code(tree, &sound) == expected;
    reduced::minimal(tree, &mut same, tries)
}

/// The first row in which the builtins differ from their second implementation.
pub(super) fn second_implementation(planted: &Planted) -> Option<Caught> {
    second::rows().iter().enumerate().find_map(|(i, row)| {
        let what = row.differs(&planted.source_arithmetic)?;
        Some(Caught { by: "the builtins vs their second implementation".into(), what, after: i as u64 + 1, minimal: None })
    })
}

/// A module with a known outcome.
pub struct KnownModule {
    /// Its name: what it tests.
    pub name: &'static str,
    /// The module as assembly text.
    pub text: &'static str,
    /// The floats in the buffer at set 0, binding 0, if it has one.
    pub buffer: &'static [f32],
    /// The first output's components, or the undefined behaviour.
    pub expected: Result<[f32; 4], Ub>,
}

const SWAP: &str = r#"
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out
OpExecutionMode %main OriginUpperLeft
OpDecorate %out Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%p = OpTypePointer Output %v4
%out = OpVariable %p Output
%zero = OpConstant %float 0
%one = OpConstant %float 1
%two = OpConstant %float 2
%three = OpConstant %float 3
%main = OpFunction %void None %fn
%entry = OpLabel
OpBranch %head
%head = OpLabel
%a = OpPhi %float %one %entry %b %cont
%b = OpPhi %float %two %entry %a %cont
%i = OpPhi %float %zero %entry %next %cont
OpLoopMerge %merge %cont None
OpBranch %test
%test = OpLabel
%goes = OpFOrdLessThan %bool %i %three
OpBranchConditional %goes %cont %merge
%cont = OpLabel
%next = OpFAdd %float %i %one
OpBranch %head
%merge = OpLabel
%v = OpCompositeConstruct %v4 %a %b %i %zero
OpStore %out %v
OpReturn
OpFunctionEnd
"#;

const UNREACHABLE: &str = r#"
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out
OpExecutionMode %main OriginUpperLeft
OpDecorate %out Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%p = OpTypePointer Output %v4
%out = OpVariable %p Output
%zero = OpConstant %float 0
%v = OpConstantComposite %v4 %zero %zero %zero %zero
%main = OpFunction %void None %fn
%entry = OpLabel
OpStore %out %v
OpUnreachable
OpFunctionEnd
"#;

const OUT_OF_BOUNDS: &str = r#"
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out
OpExecutionMode %main OriginUpperLeft
OpDecorate %out Location 0
OpDecorate %array ArrayStride 4
OpMemberDecorate %block 0 NonWritable
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%v4 = OpTypeVector %float 4
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %array
%p = OpTypePointer Output %v4
%pb = OpTypePointer StorageBuffer %block
%pf = OpTypePointer StorageBuffer %float
%out = OpVariable %p Output
%buffer = OpVariable %pb StorageBuffer
%0u = OpConstant %uint 0
%5u = OpConstant %uint 5
%main = OpFunction %void None %fn
%entry = OpLabel
%at = OpAccessChain %pf %buffer %0u %5u
%x = OpLoad %float %at
%v = OpCompositeConstruct %v4 %x %x %x %x
OpStore %out %v
OpReturn
OpFunctionEnd
"#;

/// Modules that no program is translated to. They test rules that translated programs cannot
/// tell apart.
pub fn known_modules() -> Vec<KnownModule> {
    vec![
        KnownModule { name: "phis of a loop swap two values (LV-2)", text: SWAP, buffer: &[], expected: Ok([2.0, 1.0, 3.0, 0.0]) },
        KnownModule { name: "OpUnreachable is reached", text: UNREACHABLE, buffer: &[], expected: Err(Ub::Unreachable) },
        KnownModule {
            name: "an index is out of bounds",
            text: OUT_OF_BOUNDS,
            buffer: &[1.0, 2.0, 3.0],
            expected: Err(Ub::AccessOutOfBounds),
        },
    ]
}

/// The first known module for which the relation has another outcome.
pub(super) fn known_module_differs(planted: &Planted) -> Option<Caught> {
    let rules = planted.relation.clone().unwrap_or_else(spirv::Rules::standard);
    let relation = spirv::Relation::new(rules, planted.target_arithmetic);
    known_modules().iter().enumerate().find_map(|(i, known)| {
        let what = known.differs(&relation)?;
        Some(Caught { by: "known modules vs the SPIR-V relation".into(), what, after: i as u64 + 1, minimal: None })
    })
}

impl KnownModule {
    /// The difference between the relation's outcome and the known one, if any, or the error of an
    /// invalid module.
    pub fn differs(&self, relation: &spirv::Relation) -> Option<String> {
        let words = match spirv::assemble(self.text, spirv::Options::default()) {
            Ok(words) => words,
            Err(e) => return Some(format!("{}: {e}", self.name)),
        };
        let module = match spirv::Module::load(&words) {
            Ok(module) => module,
            Err(e) => return Some(format!("{}: {e}", self.name)),
        };
        let bytes = self.buffer.iter().flat_map(|x| x.to_le_bytes()).collect();
        let buffers = [spirv::Buffer { set: 0, binding: 0, bytes }];
        let inputs = spirv::Inputs { frag_coord: [0.5, 0.5, 0.0, 1.0], buffers: &buffers };
        let found = match spirv::step::run(&module, "main", &inputs, 1_000, relation, &mut ()) {
            Err(e) => return Some(format!("{}: {e}", self.name)),
            Ok(Outcome::Observed(outputs)) => {
                Ok(outputs.at(0).map(|lanes| lanes.iter().map(|l| l.float()).collect::<Vec<_>>()).unwrap_or_default())
            }
            Ok(Outcome::Undefined(undefined)) => Err(undefined.ub),
            Ok(other) => return Some(format!("{}: the run ends as {}", self.name, other.name())),
        };
        let expected = self.expected.map(|xs| xs.to_vec());
        (found != expected).then(|| format!("{}: wanted {expected:?}, found {found:?}", self.name))
    }
}

/// The first of a campaign's modules that `spirv-val` rejects. The error says if `spirv-val` is
/// not installed.
pub(super) fn spirv_val(hunt: &Hunt, bug: &Bug) -> Result<Option<Caught>, String> {
    if Command::new("spirv-val").arg("--version").output().is_err() {
        return Err("spirv-val is not installed (Debian: apt-get install spirv-tools)".into());
    }
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let file = folder.path().join("module.spv");
    for index in 0..hunt.programs.min(MODULES) {
        let tree = hunt.program(index);
        let settings = hunt.settings(index, bug.planted.clone());
        let Some(words) = words(&tree, &settings) else { continue };
        std::fs::write(&file, spirv::bytes_of_words(&words)).map_err(|e| format!("{}: {e}", file.display()))?;
        let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            let what = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_string();
            return Ok(Some(Caught { by: "spirv-val".into(), what, after: index + 1, minimal: None }));
        }
    }
    Ok(None)
}

/// The most modules that `spirv-val` checks for one mistake. Each needs a process.
const MODULES: u64 = 50;

fn words(tree: &Tree, settings: &Settings) -> Option<Vec<u32>> {
    match Case::new(Program::resolve(tree).ok()?, settings) {
        Ok(case) => Some(case.translated.words),
        Err(NoCase::IllTyped(_) | NoCase::Decided(_)) => None,
    }
}
