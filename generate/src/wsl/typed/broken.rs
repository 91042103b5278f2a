//! Declarations that each break one rule.

use super::{Fault, Generator};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::types::{Scalar, TypeId};

impl Generator {
    /// Adds the declaration that breaks a rule, if the fault is one of a declaration.
    pub(super) fn broken_declaration(&mut self) {
        let Some(fault) = self.fault.filter(|_| self.broken_rule.is_none()) else { return };
        if let Some((text, rule)) = self.broken_text(fault) {
            // If two types have the same name, the second breaks the rule.
            let last = matches!(fault, Fault::TypedefDuplicate | Fault::StructDuplicate | Fault::EnumDuplicate);
            let at = if last { self.decls.len() } else { self.below(self.decls.len() + 1) };
            self.decls.insert(at, text);
            self.broken_rule = Some(rule);
        }
    }

    /// A type as text that is no pointer, array reference, array or void.
    fn value_type_name(&mut self) -> String {
        let (s, n) = (self.pick(&Scalar::ALL), 2 + self.below(3) as u8);
        let ty = if self.structs.is_empty() || self.one_in(3) {
            TypeId::vector(s, n)
        } else {
            let i = self.below(self.structs.len());
            self.structure(i)
        };
        self.identifier(ty).unwrap_or_default()
    }

    fn composite_type_text(&mut self) -> String {
        let plain_type = self.value_type_name();
        match self.below(5) {
            0 => format!("thread {plain_type}*"),
            1 => format!("{plain_type}[] device"),
            2 => format!("bool[{}]", 1 + self.below(9)),
            3 => format!("{plain_type}* constant"),
            _ => "float[2][3]".into(),
        }
    }

    fn taken_type_name(&mut self) -> String {
        let mut all: Vec<String> = ["float4", "int", "sampler", "Texture2D", "vector", "atomic_int", "void"].map(String::from).to_vec();
        all.extend(self.structs.iter().map(|s| s.name.clone()));
        all.extend(self.enums.iter().map(|s| s.name.clone()));
        all.extend(self.typedefs.iter().map(|s| s.0.clone()));
        self.pick(&all)
    }

    fn pick_text(&mut self, all: &[&str]) -> String {
        let plain_type = self.value_type_name();
        let composite_type = self.composite_type_text();
        self.pick(all).replace("PLAIN", &plain_type).replace("COMPOSITE", &composite_type)
    }

    fn broken_text(&mut self, fault: Fault) -> Option<(String, Rule)> {
        let name = self.fresh("z");
        let s = self.pick_text(&["PLAIN"]);
        let structure = format!("struct W{name} {{ int a; float[2] b; }} ");
        let w = format!("W{name}");
        Some(match fault {
            Fault::TypedefDuplicate => (format!("typedef {} = int;", self.taken_type_name()), Rule::WslEnvTypedefDuplicate),
            Fault::StructDuplicate => (format!("struct {} {{ int a; }}", self.taken_type_name()), Rule::WslEnvStructDuplicate),
            Fault::EnumDuplicate => (format!("enum {} {{ A }}", self.taken_type_name()), Rule::WslEnvEnumDuplicate),
            Fault::FieldDuplicate => {
                (format!("struct {name} {{ int a; {s} b; {} a; }}", self.pick_text(&["int", "PLAIN"])), Rule::WslEnvStructFields)
            }
            Fault::EnumBase => (
                format!("enum {name} : {} {{ A, B }}", self.pick_text(&["float", "bool", "PLAIN", "COMPOSITE", "atomic_int"])),
                Rule::WslEnvEnumBase,
            ),
            Fault::EnumValue => {
                let value = self.pick_text(&["1.0", "true", "0.", "false", ".5f"]);
                (format!("enum {name} {{ A = 0, B = {value}, C = 7 }}"), Rule::WslEnvEnumValueExplicit)
            }
            Fault::EnumZero => {
                (format!("enum {name} {{ A = {}, B, C = 77 }}", self.pick_text(&["1", "2", "-3", "0x5", "6"])), Rule::WslEnvEnumZero)
            }
            Fault::EnumDistinct => (
                format!("enum {name} {{ A, {} }}", self.pick_text(&["B = 0", "B, C = 1", "B = 5, C = 4, D", "B = -1, C", "B = 0x0"])),
                Rule::WslEnvEnumDistinct,
            ),
            Fault::EnumRange => {
                let (base, values) = self.pick(&[
                    (" : uint", "A, B = -1"),
                    ("", "A, B = 2147483648"),
                    (" : int", "A, B = 2147483647, C"),
                    (" : uint", "A, B = 4294967295, C"),
                    (" : uint", "A, B = 0x100000000"),
                    ("", "A, B = -2147483649"),
                    ("", "A, B = 99999999999999999999999"),
                ]);
                (format!("enum {name}{base} {{ {values} }}"), Rule::WslEnvEnumRange)
            }
            Fault::EnumElements => (format!("enum {name} {{ A, B, {} = 9 }}", self.pick_text(&["A", "B"])), Rule::WslEnvEnumElements),
            Fault::Getter => {
                let parameters = self.pick_text(&["", "COMPOSITE s", "PLAIN s, int t", "PLAIN s, PLAIN t, PLAIN u"]);
                (format!("int operator.{name}({parameters}) {{ return 1; }}"), Rule::WslEnvGetter)
            }
            Fault::Setter => {
                let text = match self.below(4) {
                    0 => format!("void operator.{name}=({s} s, int v) {{ }}"),
                    1 => format!("{s} operator.{name}=({s} s) {{ return s; }}"),
                    2 => {
                        let c = self.composite_type_text();
                        format!("{c} operator.{name}=({c} s, int v) {{ return s; }}")
                    }
                    _ => format!("{s} operator.{name}=({s} s, int v, int w) {{ return s; }}"),
                };
                (text, Rule::WslEnvSetter)
            }
            Fault::AddressTaker => {
                let text = match self.below(5) {
                    0 => format!("device int* operator&.{name}(thread {s}* s, device int* p) {{ return p; }}"),
                    1 => format!("int operator&.{name}(thread {s}* s) {{ return 1; }}"),
                    2 => format!("thread int* operator&.{name}(thread {s}[] s) {{ int x; return &x; }}"),
                    3 => format!("thread int* operator&.{name}({} {s}* s) {{ int x; return &x; }}", self.pick(&["device", "constant"])),
                    _ => format!("thread int* operator&.{name}({s} s) {{ int x; return &x; }}"),
                };
                (text, Rule::WslEnvAddressTaker)
            }
            Fault::IndexGetter => {
                let parameters = self
                    .pick(&[
                        "W s",
                        "W* thread s, uint i",
                        "W[2] s, uint i",
                        "W s, float i",
                        "W s, uint i, uint j",
                        "",
                        "W s, bool i",
                        "W[] device s, int i",
                    ])
                    .replace('W', &w);
                (format!("{structure}int operator[]({parameters}) {{ return 1; }}"), Rule::WslEnvIndexGetter)
            }
            Fault::IndexSetter => {
                let (result, parameters) = self.pick(&[
                    ("W", "W s, int i"),
                    ("void", "W s, uint i, int v"),
                    ("W", "W s, float i, int v"),
                    ("W[2]", "W[2] s, uint i, int v"),
                    ("W", "W s, uint i, int v, int w"),
                ]);
                (
                    format!(
                        "{structure}{} operator[]=({}) {{ {} }}",
                        result.replace('W', &w),
                        parameters.replace('W', &w),
                        if result == "void" { "" } else { "return s;" }
                    ),
                    Rule::WslEnvIndexSetter,
                )
            }
            Fault::IndexAddressTaker => {
                let (result, parameters) = self.pick(&[
                    ("int", "thread W* s, uint i"),
                    ("thread int*", "thread W* s"),
                    ("thread int*", "thread W* s, float i"),
                    ("thread int*", "device W* s, uint i"),
                    ("thread int*", "thread W[2]* s, uint i"),
                    ("thread int*", "W s, uint i"),
                    ("thread int*", "thread W** s, uint i"),
                    ("thread int*", "thread W* s, uint i, int j"),
                ]);
                let value = if result == "int" { "" } else { "&" };
                (
                    format!("{structure}{result} operator&[]({}) {{ int x; return {value}x; }}", parameters.replace('W', &w)),
                    Rule::WslEnvIndexAddressTaker,
                )
            }
            Fault::StepOperator => {
                let sign = self.pick(&["++", "--"]);
                let text = match self.below(3) {
                    0 => format!("{structure}void operator{sign}({w} s) {{ }}"),
                    1 => format!("{structure}{w} operator{sign}({w} s, int t) {{ return s; }}"),
                    _ => format!("int operator{sign}() {{ return 1; }}"),
                };
                (text, Rule::WslEnvStep)
            }
            Fault::SumOperator => {
                let sign = self.pick(&["+", "-"]);
                let text = if self.one_in(2) {
                    format!("int operator{sign}() {{ return 1; }}")
                } else {
                    format!("{structure}{w} operator{sign}({w} s, {w} t, {w} u) {{ return s; }}")
                };
                (text, Rule::WslEnvPlusMinus)
            }
            Fault::BinaryOperator => {
                let sign = self.pick(&["*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&", "|", "^", "<<", ">>"]);
                let parameters = self.pick(&["", "W s", "W s, W t, W u"]).replace('W', &w);
                (format!("{structure}int operator{sign}({parameters}) {{ return 1; }}"), Rule::WslEnvBinary)
            }
            Fault::ComplementOperator => {
                let parameters = self.pick(&["", "W s, W t"]).replace('W', &w);
                (format!("{structure}int operator{}({parameters}) {{ return 1; }}", self.pick(&["~", "!"])), Rule::WslEnvComplement)
            }
            Fault::VoidPlace => {
                let text = match self.below(4) {
                    0 => format!("struct {name} {{ {s} a; void b; }}"),
                    1 => format!("typedef {name} = void;"),
                    2 => format!("int {name}(void a) {{ return 1; }}"),
                    _ => format!("void {name}({s} a, void b) {{ }}"),
                };
                (text, Rule::WslVVoid)
            }
            Fault::VoidComposite => {
                let void_type = self.pick(&["thread void*", "void[] device", "void[4]", "void* constant", "void[2] * thread"]);
                let text = match self.below(3) {
                    0 => format!("typedef {name} = {void_type};"),
                    1 => format!("void {name}({void_type} a) {{ }}"),
                    _ => format!("void {name}() {{ {{ {void_type} a; }} }}"),
                };
                (text, Rule::WslVVoidComposite)
            }
            Fault::TypeArguments => {
                let ty = self.pick(&[
                    "vector<float, 5>",
                    "vector<float>",
                    "matrix<int, 2, 2>",
                    "float<int>",
                    "Texture2D<bool>",
                    "vector<void, 2>",
                    "matrix<float, 1, 2>",
                    "sampler<float>",
                    "TextureDepth2D<int>",
                    "Texture2D<float, 2>",
                    "vector<float, 2.0>",
                    "Nowhere",
                ]);
                // Types in arguments have their own rule against void.
                let rule = if ty.contains("void") { Rule::WslVVoid } else { Rule::WslVTypeDefined };
                (format!("void {name}({ty} a) {{ }}"), rule)
            }
            Fault::Cycle => {
                let text = match self.below(5) {
                    0 => format!("struct {name} {{ {name} a; }}"),
                    1 => format!("typedef {name} = {name};"),
                    2 => format!("struct {name} {{ int a; {name}b[2] c; }} struct {name}b {{ {name} a; }}"),
                    3 => format!("typedef {name} = {name}b[3]; typedef {name}b = {name}c; typedef {name}c = {name};"),
                    _ => format!("struct {name} {{ {name}b a; }} typedef {name}b = {name};"),
                };
                (text, Rule::WslVDependsCycle)
            }
            Fault::FieldReference => {
                let field = self.pick_text(&["thread PLAIN*", "PLAIN[] device", "int* constant", "threadgroup float[]"]);
                let text = if self.one_in(3) {
                    format!("typedef {name}b = {field}; struct {name} {{ int a; {name}b b; }}")
                } else {
                    format!("struct {name} {{ int a; {field} b; }}")
                };
                (text, Rule::WslVFieldReference)
            }
            Fault::ElementReference => {
                let element = self.pick_text(&["thread PLAIN*", "PLAIN[] device", "int* constant"]);
                let text = match self.below(3) {
                    0 => format!("typedef {name}b = {element}; typedef {name} = {name}b[3];"),
                    1 => format!("typedef {name}b = {element}; void {name}({name}b[2] a) {{ }}"),
                    _ => format!("typedef {name}b = {element}; struct {name} {{ {name}b[2] a; }}"),
                };
                (text, Rule::WslVElementReference)
            }
            Fault::ElementOpaque => {
                let opaque = self.pick(&["sampler", "Texture2D<float>", "RWTexture3D<int>"]);
                let text = match self.below(3) {
                    0 => format!("void {name}({opaque}[2] a) {{ }}"),
                    1 => format!("struct {name}b {{ int a; {opaque} b; }} typedef {name} = {name}b[3];"),
                    _ => format!("typedef {name}b = {opaque}; void {name}(thread {name}b[4]* a) {{ }}"),
                };
                (text, Rule::WslVElementOpaque)
            }
            Fault::SetterAlone => {
                let getter = self.pick(&["", "float operator.N(W s) { return 1; }"]);
                (
                    format!(
                        "{structure}{w} operator.{name}=({w} s, int v) {{ return s; }} {}",
                        getter.replace('W', &w).replace('N', &name)
                    ),
                    Rule::WslVSetterGetter,
                )
            }
            Fault::IndexSetterAlone => {
                let getter = self.pick(&["", "float operator[](W s, uint i) { return 1; }", "int operator[](W s, int i) { return 1; }"]);
                (
                    format!("{structure}{w} operator[]=({w} s, uint i, int v) {{ return s; }} {}", getter.replace('W', &w)),
                    Rule::WslVIndexSetterGetter,
                )
            }
            Fault::FunctionDuplicate => {
                let p = self.pick_text(&["", "int a", "PLAIN a", "PLAIN a, COMPOSITE b", "COMPOSITE a"]);
                (format!("void {name}({p}) {{ }} int {name}({p}) {{ return 1; }}"), Rule::WslVFunctionDuplicate)
            }
            Fault::GeneratedDuplicate => {
                let text = match self.below(5) {
                    0 => format!("int operator.a({w} s) {{ return 1; }}"),
                    1 => format!("{w} operator.a=({w} s, int v) {{ return s; }}"),
                    2 => format!("thread int* operator&.a(thread {w}* s) {{ int x; return &x; }}"),
                    3 => format!("thread int* operator&.c(thread {w}* s) {{ return &s->a; }} int operator.c({w} s) {{ return 1; }}"),
                    _ => format!(
                        "thread int* operator&[](thread {w}* s, uint i) {{ return &s->a; }} int operator[]({w} s, uint i) {{ return 1; }}"
                    ),
                };
                (format!("{structure}{text}"), Rule::WslVFunctionDuplicate)
            }
            Fault::LibraryDuplicate => {
                let text = self.pick(&[
                    "float sin(float x) { return x; }",
                    "int operator+(int a, int b) { return a; }",
                    "operator float(int x) { return 1; }",
                    "float2 operator.xy(float3 v) { return float2(1, 2); }",
                    "operator OWN() { OWN s; return s; }",
                    "operator OWN(OWN s) { return s; }",
                    "bool operator==(bool a, bool b) { return a; }",
                    "float operator[](float4 v, uint i) { return 1; }",
                    "void AllMemoryBarrierWithGroupSync() { }",
                ]);
                (format!("{structure}{}", text.replace("OWN", &w)), Rule::WslVFunctionDuplicate)
            }
            Fault::ParameterDuplicate => (
                format!("void {name}({} a, {s} b, {} a) {{ }}", self.pick_text(&["int", "COMPOSITE"]), self.pick_text(&["int", "PLAIN"])),
                Rule::WslVFunctionParameters,
            ),
            Fault::EntryDiscard => {
                let stage_text = self.pick(&["vertex", "[numthreads(1, 1, 1)] compute"]);
                let body = self
                    .pick(&[
                        "discard;",
                        "if (N()) { }",
                        "N();",
                        "while (N()) { }",
                        "bool b = N();",
                        "S s; bool b = s.gone;",
                        "S s; s = s + 1;",
                    ])
                    .replace('N', &format!("{name}b"))
                    .replace("S s", &format!("{w} s"));
                let helpers = format!(
                    "bool {name}b() {{ if (true) discard; return true; }} bool operator.gone({w} s) {{ return {name}b(); }} {w} operator+({w} s, int i) {{ {name}b(); return s; }}"
                );
                (format!("{structure}{helpers} {stage_text} void {name}() {{ {body} }}"), Rule::WslVFunctionDiscard)
            }
            Fault::TwoReturns => {
                let ty = self.pick(&["sampler", "Texture2D<float>", "RWTextureDepth2D<float>"]);
                (format!("{ty} {name}({ty} a, {ty} b, bool c) {{ if (c) return a; return b; }}"), Rule::WslVReturnOpaque)
            }
            Fault::NoSemantic => {
                let text = match self.below(4) {
                    0 => format!(
                        "vertex void {name}(uint i : SV_VertexID, {} a) {{ }}",
                        self.pick_text(&["float", "int2", "sampler", "float[] device"])
                    ),
                    1 => format!("fragment float4 {name}() {{ return float4(); }}"),
                    2 => format!("{structure}vertex void {name}({w} a) {{ }}"),
                    _ => format!("struct {name}b {{ float4 a : SV_Position; float b; }} vertex {name}b {name}() {{ return {name}b(); }}"),
                };
                (text, Rule::WslEpBucket)
            }
            Fault::SameName => {
                let text = self.pick(&[
                    "int a : attribute(0)",
                    "float a : attribute(1)",
                    "float2 a : attribute(0)",
                    "nointerpolation float a : attribute(0)",
                    "float a : specialized",
                ]);
                (format!("struct {name}b {{ {text}; }} fragment void {name}({name}b s, float a : attribute(0)) {{ }}"), Rule::WslEpSameName)
            }
            Fault::TwoResults => {
                let (stage, semantic, ty) = self.pick(&[
                    ("vertex", "SV_Position", "float4"),
                    ("vertex", "attribute(2)", "float"),
                    ("vertex", "PSIZE", "float"),
                    ("fragment", "SV_Target 1", "float4"),
                    ("fragment", "SV_Depth", "float"),
                ]);
                let text = if self.one_in(2) {
                    format!("struct {name}b {{ {ty} a : {semantic}; {ty} b : {semantic}; }}")
                } else {
                    format!("struct {name}c {{ {ty} a : {semantic}; }} struct {name}b {{ {name}c a; {name}c b; }}")
                };
                (format!("{text} {stage} {name}b {name}() {{ return {name}b(); }}"), Rule::WslEpSingle)
            }
            Fault::WholeSemantic => {
                let structure = format!("struct {name}b {{ float4 a : attribute(0); }} ");
                let (text, rule) = self.pick(&[
                    ("vertex void M() : SV_Position { }", Rule::WslEpBuiltin),
                    ("fragment void M() : SV_Target 0 { }", Rule::WslEpBuiltin),
                    ("vertex void M() : attribute(3) { }", Rule::WslEpStageVariable),
                    ("vertex Mb M() : PSIZE { return Mb(); }", Rule::WslEpBuiltin),
                    ("vertex Mb M() : attribute(1) { return Mb(); }", Rule::WslEpStageVariable),
                    ("fragment void M(Mb a : attribute(0)) { }", Rule::WslEpStageVariable),
                    ("fragment void M(Mb a : specialized) { }", Rule::WslEpSpecialized),
                    ("vertex void M(Mb a : register(r)) { }", Rule::WslEpResourceType),
                    ("struct Mc { Mb a : SV_SampleIndex; } fragment void M(Mc a) { }", Rule::WslEpBuiltin),
                ]);
                // None of these texts has another M than the names.
                (format!("{structure}{}", text.replace('M', &name)), rule)
            }
            Fault::BuiltinType => {
                let text = self.pick(&[
                    "vertex void M(int i : SV_VertexID) { }",
                    "vertex float3 M() : SV_Position { return float3(); }",
                    "fragment float M() : SV_Target 0 { return 1; }",
                    "fragment void M(uint i : SV_IsFrontFace) { }",
                    "[numthreads(1, 1, 1)] compute void M(uint i : SV_GroupID) { }",
                    "[numthreads(1, 1, 1)] compute void M(uint3 i : SV_GroupIndex) { }",
                    "fragment int M() : SV_Coverage { return 1; }",
                    "vertex float2 M() : PSIZE { return float2(); }",
                    "fragment uint M() : SV_Depth { return 1; }",
                ]);
                (text.replacen('M', &name, 1), Rule::WslEpBuiltin)
            }
            Fault::BuiltinStage => {
                let text = self.pick(&[
                    "fragment void M(uint i : SV_VertexID) { }",
                    "vertex void M(float4 i : SV_Position) { }",
                    "vertex float4 M() : SV_Target 0 { return float4(); }",
                    "fragment float4 M() : SV_Position { return float4(); }",
                    "vertex uint M() : SV_VertexID { return 1; }",
                    "[numthreads(1, 1, 1)] compute void M(bool i : SV_IsFrontFace) { }",
                    "fragment void M(uint i : SV_Coverage) { }",
                    "vertex void M(uint3 i : SV_GroupID) { }",
                ]);
                (text.replacen('M', &name, 1), Rule::WslEpBuiltin)
            }
            Fault::ResourceType => (
                format!(
                    "fragment void {name}({} a : register(r)) {{ }}",
                    self.pick_text(&["float", "device int*", "PLAIN[3]", "float4x4", "atomic_int", "constant float4*"])
                ),
                Rule::WslEpResourceType,
            ),
            Fault::ResourceSpace => (
                format!("vertex void {name}(thread {}[] a : register(r)) {{ }}", self.pick(&["int", "float4", "bool2x2", "uint"])),
                Rule::WslEpResourceSpace,
            ),
            Fault::SliceElement => {
                let element = self
                    .pick(&["float[2]", "sampler", "E", "W", "Texture2D", "int* thread", "int[] constant"])
                    .replace('W', &w)
                    .replace('E', &format!("{name}e"));
                (
                    format!("{structure}enum {name}e {{ A }} fragment void {name}({element}[] device a : register(r, s)) {{ }}"),
                    Rule::WslEpSliceElement,
                )
            }
            Fault::AttributeType => (
                format!(
                    "vertex void {name}({} a : attribute(1)) {{ }}",
                    self.pick(&["int[2]", "sampler", "float[] device", "thread int*", "Texture2D<float>", "atomic_int"])
                ),
                Rule::WslEpStageVariable,
            ),
            Fault::SpecializedType => (
                format!(
                    "{} void {name}({} a : specialized) {{ }}",
                    self.pick(&["vertex", "fragment"]),
                    self.pick(&["int2", "float4x4", "sampler", "bool[2]", "atomic_uint"])
                ),
                Rule::WslEpSpecialized,
            ),
            Fault::StageBucket => {
                let text = self.pick(&[
                    "[numthreads(1, 1, 1)] compute void N(float a : attribute(0)) { }",
                    "[numthreads(1, 1, 1)] compute void N(int a : specialized) { }",
                    "[numthreads(1, 1, 1)] compute uint N() : SV_GroupIndex { return 1; }",
                    "[numthreads(1, 1, 1)] compute float N() : attribute(0) { return 1; }",
                    "fragment float4 N() : attribute(0) { return float4(); }",
                    "vertex float N() : specialized { return 1; }",
                    "fragment float N() : specialized { return 1; }",
                    "vertex sampler N(sampler s : register(a)) : register(b) { return s; }",
                ]);
                (text.replacen('N', &name, 1), Rule::WslEpStageBuckets)
            }
            Fault::Interpolation | Fault::Sampling => {
                let (a, b, rule) = if fault == Fault::Interpolation {
                    ("nointerpolation", "noperspective", Rule::WslEpInterpolation)
                } else {
                    ("centroid", "sample", Rule::WslEpSampling)
                };
                let (a, b) = if self.one_in(2) { (a, b) } else { (b, a) };
                let repeated = if self.one_in(2) { format!("{a} ") } else { String::new() };
                let text = if self.one_in(2) {
                    format!("fragment void {name}({a} {b} {repeated}float a : attribute(0)) {{ }}")
                } else {
                    format!(
                        "struct {name}b {{ {a} {b} {repeated}float4 a : attribute(2); }} vertex {name}b {name}() {{ return {name}b(); }}"
                    )
                };
                (text, rule)
            }
            Fault::Numthreads => {
                let n = self.pick(&["0, 1, 1", "1, 0u, 1", "1, 1, 0x0", "4294967296, 1, 1", "1, 99999999999999999999999, 1"]);
                (format!("[numthreads({n})] compute void {name}() {{ }}"), Rule::WslEpNumthreads)
            }
            Fault::StageFunction => {
                let (stage_text, call) = self.pick(&[
                    ("vertex", "ddx(1.0);"),
                    ("[numthreads(1, 1, 1)] compute", "fwidth(float2());"),
                    ("fragment", "AllMemoryBarrierWithGroupSync();"),
                    ("vertex", "GroupMemoryBarrierWithGroupSync();"),
                ]);
                let text = if self.one_in(2) {
                    format!("{stage_text} void {name}() {{ {call} }}")
                } else {
                    format!("void {name}b() {{ {call} }} {stage_text} void {name}() {{ {name}b(); }}")
                };
                (text, Rule::WslEpStageFunctions)
            }
            Fault::FunctionReturnInLoop => {
                let (text, rule) = self.pick(&[
                    ("while (true) { return r; }", Rule::WslTDoWhileNoBreak),
                    ("do { if (true) break; return r; } while (true);", Rule::WslTDoWhileBreak),
                    ("for (;;) return r;", Rule::WslTForNoBreak),
                    ("for (;;) { if (true) break; return r; }", Rule::WslTForBreak),
                ]);
                (format!("device {s}[] {name}(device {s}[] r) {{ {text} return r; }}"), rule)
            }
            Fault::CaseReturn => (
                format!("thread {s}* {name}(thread {s}* p, int i) {{ switch (i) {{ case 1: return p; default: break; }} return p; }}"),
                Rule::WslTSwitchBlock,
            ),
            _ => return None,
        })
    }
}
