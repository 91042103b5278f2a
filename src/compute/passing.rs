//! Stages that are generated as partners of others, as assembly. A vertex stage supplies the inputs
//! of a fragment stage, and a fragment stage shows the outputs of a vertex stage.

use std::fmt::Write as _;

use smallstep_semantics::raster::Interpolation;
use smallstep_semantics::spirv::draw::Located;
use smallstep_semantics::spirv::types::Type;

/// The value that a vertex stage stores in an interface variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortSource {
    /// These words, one for each component, the same at every vertex.
    Words(Vec<u32>),
    /// The position on the screen, as two floats.
    Place,
    /// The vertex attribute at that location.
    Attribute(u32),
}

/// An interface variable between two stages: a scalar or a vector in one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The location.
    pub location: u32,
    /// Its first component in the location.
    pub component: u32,
    /// The type of its components, which have 32 bits.
    pub type_: Type,
    /// The number of components.
    pub rows: u32,
    /// The interpolation.
    pub how: Interpolation,
}

/// The interface variables of these scalars. Consecutive scalars in a location become one variable.
pub fn ports(scalars: &[Located]) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::new();
    for s in scalars {
        match ports.last_mut() {
            Some(port)
                if (port.location, port.component + port.rows, port.type_, port.how) == (s.location, s.component, s.type_, s.how) =>
            {
                port.rows += 1;
            }
            _ => ports.push(Port { location: s.location, component: s.component, type_: s.type_, rows: 1, how: s.how }),
        }
    }
    ports
}

impl Port {
    fn scalar(&self) -> &'static str {
        match self.type_ {
            Type::Float { .. } => "float",
            Type::Int { signed: true, .. } => "int",
            _ => "uint",
        }
    }

    fn type_name(&self) -> String {
        if self.rows == 1 { format!("%{}", self.scalar()) } else { format!("%{}{}", self.scalar(), self.rows) }
    }

    /// The decorations of the variable `name`. Integers are flat.
    fn decorations(&self, name: &str, input: bool) -> String {
        let mut text = format!("OpDecorate {name} Location {}\n", self.location);
        if self.component > 0 {
            let _ = writeln!(text, "OpDecorate {name} Component {}", self.component);
        }
        let interpolation = match self.how {
            _ if input && self.scalar() != "float" => Some("Flat"),
            Interpolation::Flat => Some("Flat"),
            Interpolation::Linear => Some("NoPerspective"),
            Interpolation::Perspective => None,
        };
        if let Some(interpolation) = interpolation {
            let _ = writeln!(text, "OpDecorate {name} {interpolation}");
        }
        text
    }
}

const TYPES: &str = "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n\
    %float2 = OpTypeVector %float 2\n%float3 = OpTypeVector %float 3\n%float4 = OpTypeVector %float 4\n\
    %uint2 = OpTypeVector %uint 2\n%uint3 = OpTypeVector %uint 3\n%uint4 = OpTypeVector %uint 4\n\
    %int2 = OpTypeVector %int 2\n%int3 = OpTypeVector %int 3\n%int4 = OpTypeVector %int 4\n\
    %zero = OpConstant %float 0\n%one = OpConstant %float 1\n\
    %pin = OpTypePointer Input %float4\n%pout = OpTypePointer Output %float4\n";

/// A module with one entry point: the capability and the memory model, the entry point with this
/// interface, its variables, and its body.
fn module(stage: &str, interface: &str, decorations: &str, declarations: &str, body: &str) -> String {
    let mode = if stage == "Fragment" { "OpExecutionMode %main OriginUpperLeft\n" } else { "" };
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint {stage} %main \"main\"{interface}\n{mode}{decorations}{TYPES}\
         {declarations}%main = OpFunction %void None %fn\n%entry = OpLabel\n{body}OpReturn\nOpFunctionEnd\n"
    )
}

/// A vertex stage that stores these values in the variables. The attribute at location 0 has four
/// floats. The first two are x and y of the position, whose z is 0 and w is 1, and the last two are
/// the position on the screen. With `whole`, the four floats are the whole position.
pub fn vertex(ports: &[(Port, PortSource)], whole: bool) -> String {
    let (mut interface, mut decorations) = (String::from(" %corner %position"), String::new());
    let (mut declarations, mut body) = (String::new(), String::new());
    decorations.push_str("OpDecorate %corner Location 0\nOpDecorate %position BuiltIn Position\n");
    declarations.push_str("%corner = OpVariable %pin Input\n%position = OpVariable %pout Output\n");
    body.push_str(
        "%given = OpLoad %float4 %corner\n%x = OpCompositeExtract %float %given 0\n%y = OpCompositeExtract %float %given 1\n\
         %place = OpCompositeConstruct %float4 %x %y %zero %one\n%uv = OpVectorShuffle %float2 %given %given 2 3\n",
    );
    body.push_str(if whole { "OpStore %position %given\n" } else { "OpStore %position %place\n" });
    for (at, (port, source)) in ports.iter().enumerate() {
        let (name, type_) = (format!("%out{at}"), port.type_name());
        let _ = write!(interface, " {name}");
        decorations.push_str(&port.decorations(&name, false));
        let _ = writeln!(declarations, "%p{at} = OpTypePointer Output {type_}\n{name} = OpVariable %p{at} Output");
        let value = match source {
            PortSource::Place => "%uv".to_string(),
            PortSource::Attribute(location) => {
                let _ = write!(interface, " %a{at}");
                let _ = writeln!(decorations, "OpDecorate %a{at} Location {location}");
                let _ = writeln!(declarations, "%q{at} = OpTypePointer Input {type_}\n%a{at} = OpVariable %q{at} Input");
                let _ = writeln!(body, "%v{at} = OpLoad {type_} %a{at}");
                format!("%v{at}")
            }
            PortSource::Words(words) => {
                for (c, word) in words.iter().enumerate() {
                    // The constant is a word, so that any NaN keeps its bits.
                    let _ = writeln!(declarations, "%b{at}_{c} = OpConstant %uint {word}");
                    let conversion = if port.scalar() == "uint" { "OpCopyObject" } else { "OpBitcast" };
                    let _ = writeln!(body, "%c{at}_{c} = {conversion} %{} %b{at}_{c}", port.scalar());
                }
                let names: Vec<String> = (0..words.len()).map(|c| format!("%c{at}_{c}")).collect();
                match port.rows {
                    1 => names[0].clone(),
                    _ => {
                        let _ = writeln!(body, "%v{at} = OpCompositeConstruct {type_} {}", names.join(" "));
                        format!("%v{at}")
                    }
                }
            }
        };
        let _ = writeln!(body, "OpStore {name} {value}");
    }
    module("Vertex", &interface, &decorations, &declarations, &body)
}

/// A fragment stage that shows each output of a vertex stage at its own location, and FragCoord at
/// the location after them.
pub fn fragment(ports: &[Port]) -> String {
    let last = ports.iter().map(|port| port.location + 1).max().unwrap_or(0);
    let (mut interface, mut decorations) = (String::from(" %coord %seen"), String::new());
    let (mut declarations, mut body) = (String::new(), String::new());
    let _ = writeln!(decorations, "OpDecorate %coord BuiltIn FragCoord\nOpDecorate %seen Location {last}");
    declarations.push_str("%coord = OpVariable %pin Input\n%seen = OpVariable %pout Output\n");
    body.push_str("%at = OpLoad %float4 %coord\nOpStore %seen %at\n");
    for (at, port) in ports.iter().enumerate() {
        let type_ = port.type_name();
        let _ = write!(interface, " %in{at} %out{at}");
        decorations.push_str(&port.decorations(&format!("%in{at}"), true));
        let _ = writeln!(decorations, "OpDecorate %out{at} Location {}", port.location);
        if port.component > 0 {
            let _ = writeln!(decorations, "OpDecorate %out{at} Component {}", port.component);
        }
        for (class, name) in [("Input", "in"), ("Output", "out")] {
            let _ = writeln!(declarations, "%p{name}{at} = OpTypePointer {class} {type_}\n%{name}{at} = OpVariable %p{name}{at} {class}");
        }
        let _ = writeln!(body, "%v{at} = OpLoad {type_} %in{at}\nOpStore %out{at} %v{at}");
    }
    module("Fragment", &interface, &decorations, &declarations, &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::spirv::{Module, Options, assemble};

    #[test]
    fn made_stages_load() {
        let located = |location, component, type_, how| Located { location, component, type_, how };
        let (float, uint) = (Type::Float { width: 32 }, Type::Int { width: 32, signed: false });
        let scalars = [
            located(0, 0, float, Interpolation::Perspective),
            located(0, 1, float, Interpolation::Perspective),
            located(2, 1, uint, Interpolation::Flat),
            located(3, 0, float, Interpolation::Linear),
        ];
        let ports = ports(&scalars);
        assert_eq!(ports.iter().map(|p| (p.location, p.component, p.rows)).collect::<Vec<_>>(), [(0, 0, 2), (2, 1, 1), (3, 0, 1)]);
        let sources = [PortSource::Place, PortSource::Words(vec![7]), PortSource::Attribute(4)];
        let ports_with_sources: Vec<(Port, PortSource)> = ports.iter().copied().zip(sources).collect();
        for text in [vertex(&ports_with_sources, false), vertex(&ports_with_sources, true), fragment(&ports)] {
            let words = assemble(&text, Options::default()).unwrap_or_else(|e| panic!("{}: {}\n{text}", e.line, e.what));
            Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"));
        }
    }
}
