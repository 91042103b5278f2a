//! Random pipelines of a vertex and a fragment shader, by a seed. They have stage variables of
//! every type and qualifier, built-in inputs and outputs, depth, coverage, `discard`, derivatives,
//! and stores in buffers.
//!
//! Every vertex is in or near the view, whatever its attributes are. Derivatives stand where all
//! threads of a quad reach them. Each buffer belongs to one stage or is only read. A vertex of the
//! first instance has an element of its own, and fragments count with atomic operations, so nothing
//! races. In one program of four, a fragment is discarded before a derivative, or an index is out
//! of bounds, so that something is unspecified.

use smallstep_semantics::wsl::choice::Strategy;

/// The version of the generator. Another version may make another program of the same seed.
pub const VERSION: u32 = 2;

/// A type of stage variables: its name, its scalar type, and its numbers of columns and rows.
type Shape = (&'static str, &'static str, usize, usize);

const SHAPES: &[Shape] = &[
    ("float", "float", 1, 1),
    ("float2", "float", 1, 2),
    ("float3", "float", 1, 3),
    ("float4", "float", 1, 4),
    ("float2x2", "float", 2, 2),
    ("float2x3", "float", 2, 3),
    ("float3x2", "float", 3, 2),
    ("int", "int", 1, 1),
    ("int3", "int", 1, 3),
    ("uint", "uint", 1, 1),
    ("uint2", "uint", 1, 2),
    ("bool", "bool", 1, 1),
    ("bool2", "bool", 1, 2),
    ("bool2x2", "bool", 2, 2),
];

/// A stage variable from the vertex to the fragment stage.
struct Variable {
    number: u32,
    shape: Shape,
    qualifiers: String,
    name: String,
}

struct Generator {
    seed: u64,
    draw_count: u64,
}

/// The text of a program with a vertex entry point `corner` and a fragment entry point `shade`.
pub fn program(seed: u64) -> String {
    Generator { seed, draw_count: 0 }.program_text(seed % 4 == 3)
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.draw_count += 1;
        Strategy::Random(self.seed).choose(u32::MAX, self.draw_count, n as u64).unwrap_or(0) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn program_text(&mut self, may_be_unspecified: bool) -> String {
        let attributes = self.variables("in", 3, false);
        let mut interface = self.variables("out", 4, true);
        if interface.is_empty() {
            interface.push(Variable { number: 0, shape: SHAPES[2], qualifiers: String::new(), name: "out0".into() });
        }
        let (buffered_vertex, buffered_fragment, shared) = (self.one_in(3), self.one_in(3), self.one_in(3));
        let mut text = String::new();
        // The stage variables stand in a structure. Some of them may stand in a structure inside
        // of it.
        let fields = |all: &[Variable], qualified: bool| -> String {
            all.iter()
                .map(|v| format!("    {}{} {} : attribute({});\n", if qualified { &v.qualifiers } else { "" }, v.shape.0, v.name, v.number))
                .collect()
        };
        let size = if self.one_in(4) { "    float size : PSIZE;\n" } else { "" };
        text.push_str(&format!("struct Between {{\n    float4 position : SV_Position;\n{size}{}}}\n", fields(&interface, true)));
        let nested = self.one_in(3) && !attributes.is_empty();
        if nested {
            text.push_str(&format!("struct Inner {{\n{}}}\nstruct Outer {{\n    Inner inner;\n}}\n", fields(&attributes, false)));
        }
        text.push_str("float bounded(float x) { return clamp(x, -4.0, 4.0); }\n");
        // The vertex shader.
        let mut parameters: Vec<String> = vec!["float4 place : attribute(9)".into()];
        let ids = self.one_in(2);
        if ids {
            parameters.extend(["uint number : SV_VertexID".into(), "uint instance : SV_InstanceID".into()]);
        }
        if nested {
            parameters.push("Outer given".into());
        } else {
            parameters.extend(attributes.iter().map(|v| format!("{} {} : attribute({})", v.shape.0, v.name, v.number)));
        }
        if buffered_vertex {
            parameters.push("device uint[] seen : register(u0)".into());
            if !ids {
                parameters.extend(["uint number : SV_VertexID".into(), "uint instance : SV_InstanceID".into()]);
            }
        }
        if shared {
            parameters.push("constant float4[] tint : register(t1, space1)".into());
        }
        let mut sources: Vec<(String, Shape)> =
            attributes.iter().map(|v| (if nested { format!("given.inner.{}", v.name) } else { v.name.clone() }, v.shape)).collect();
        sources.push(("place".into(), SHAPES[3]));
        if ids {
            sources.extend([("number".into(), SHAPES[9]), ("instance".into(), SHAPES[9])]);
        }
        if shared {
            sources.push(("tint[0]".into(), SHAPES[3]));
        }
        text.push_str(&format!("vertex Between corner({}) {{\n    Between b;\n", parameters.join(", ")));
        let w = self.pick(&["1.0", "0.5 + abs(place.w)", "1.0 + 0.25 * abs(place.w)"]);
        // For short inputs these products and sums are exact, so every device has the
        // same positions.
        let spread = self.pick(&["0.59375", "0.90625", "1.6875"]);
        let shift = if ids { " + float(instance) * 0.3125 - float(number) * 0.171875" } else { "" };
        text.push_str(&format!(
            "    b.position = float4(place.x * {spread}{shift}, place.y * {spread} + 0.0703125, place.z * 0.3125, {w});\n"
        ));
        if !size.is_empty() {
            text.push_str("    b.size = 2.0;\n");
        }
        for v in &interface {
            let value = self.value(&sources, v.shape);
            text.push_str(&format!("    b.{} = {value};\n", v.name));
        }
        if buffered_vertex {
            let value = self.scalar(&sources, "uint");
            text.push_str(&format!("    if (instance == 0u) {{ seen[number] = {value}; }}\n"));
        }
        if self.one_in(3) {
            text.push_str("    if (place.x > 1.0) { return b; }\n    b.position.z += 0.125;\n");
        }
        text.push_str("    return b;\n}\n");
        // The fragment shader.
        let targets = 1 + self.below(2);
        let (depth, coverage) = (self.one_in(4), self.one_in(4));
        text.push_str("struct Colours {\n");
        for n in 0..targets {
            text.push_str(&format!("    float4 colour{n} : SV_Target {n};\n"));
        }
        if depth {
            text.push_str("    float depth : SV_Depth;\n");
        }
        if coverage {
            text.push_str("    uint mask : SV_Coverage;\n");
        }
        text.push_str("}\n");
        let mut available: Vec<(String, Shape)> = Vec::new();
        let mut parameters: Vec<String> = Vec::new();
        for v in &interface {
            if self.one_in(6) {
                continue;
            }
            parameters.push(format!("{}{} {} : attribute({})", v.qualifiers, v.shape.0, v.name, v.number));
            available.push((v.name.clone(), v.shape));
        }
        if self.one_in(4) {
            // No vertex shader writes this input.
            parameters.push("float3 absent : attribute(12)".into());
            available.push(("absent".into(), SHAPES[2]));
        }
        if self.one_in(2) {
            parameters.push("bool front : SV_IsFrontFace".into());
            available.push(("front".into(), SHAPES[11]));
        }
        if self.one_in(6) {
            parameters.push("uint index : SV_SampleIndex".into());
            available.push(("index".into(), SHAPES[9]));
        }
        if may_be_unspecified && self.one_in(3) {
            parameters.push("uint inner : SV_InnerCoverage".into());
            available.push(("inner".into(), SHAPES[9]));
        }
        if buffered_fragment {
            parameters.push("device atomic_uint[] count : register(u1)".into());
        }
        if shared {
            parameters.push("constant float4[] tint : register(t1, space1)".into());
            let element = if may_be_unspecified { self.pick(&["tint[1]", "tint[900]"]) } else { "tint[1]" };
            available.push((element.into(), SHAPES[3]));
        }
        if available.is_empty() {
            available.push(("0.5".into(), SHAPES[0]));
        }
        text.push_str(&format!("fragment Colours shade({}) {{\n    Colours c;\n", parameters.join(", ")));
        let has_discard = self.one_in(3);
        let discard = if has_discard {
            let condition = self.condition(&available);
            format!("    if ({condition}) {{ discard; }}\n")
        } else {
            String::new()
        };
        if may_be_unspecified {
            text.push_str(&discard);
        }
        if self.one_in(2) {
            let x = self.scalar(&available, "float");
            let function =
                self.pick(&["ddx_fine", "ddy_fine", "fwidth_fine", "ddx_coarse", "ddy_coarse", "fwidth_coarse", "ddx", "ddy", "fwidth"]);
            text.push_str(&format!("    float slope = {function}({x});\n"));
            available.push(("slope".into(), SHAPES[0]));
        }
        if !may_be_unspecified {
            text.push_str(&discard);
        }
        if self.one_in(2) {
            let value = self.scalar(&available, "float");
            text.push_str(&format!("    float sum;\n    for (uint i = 0u; i < 3u; i++) {{ sum += bounded({value}) * float(i); }}\n"));
            available.push(("sum".into(), SHAPES[0]));
        }
        if buffered_fragment {
            let condition = self.condition(&available);
            text.push_str(&format!("    if ({condition}) {{ uint old; InterlockedAdd(&count[1], 3u, &old); }}\n"));
        }
        for n in 0..targets {
            let value = self.value(&available, SHAPES[3]);
            text.push_str(&format!("    c.colour{n} = {value};\n"));
            if self.one_in(4) {
                let condition = self.condition(&available);
                text.push_str(&format!("    if ({condition}) {{ return c; }}\n"));
            }
        }
        if depth {
            let value = self.scalar(&available, "float");
            text.push_str(&format!("    c.depth = {value};\n"));
        }
        if coverage {
            let value = self.scalar(&available, "uint");
            text.push_str(&format!("    c.mask = {value};\n"));
        }
        text.push_str("    return c;\n}\n");
        text
    }

    /// At most `limit` stage variables.
    fn variables(&mut self, name: &str, limit: usize, interpolated: bool) -> Vec<Variable> {
        let count = self.below(limit + 1);
        let variable = |k: usize| {
            let shape = self.pick(SHAPES);
            let qualifiers = match (interpolated, shape.1) {
                (false, _) => String::new(),
                (true, "float") => {
                    let interpolation = self.pick(&["", "", "nointerpolation ", "noperspective "]);
                    format!("{interpolation}{}", self.pick(&["", "", "centroid ", "sample "]))
                }
                _ => "nointerpolation ".into(),
            };
            let number = if self.one_in(8) { 70 + k as u32 } else { k as u32 };
            Variable { number, shape, qualifiers, name: format!("{name}{k}") }
        };
        (0..count).map(variable).collect()
    }

    /// A value of a type.
    fn value(&mut self, sources: &[(String, Shape)], shape: Shape) -> String {
        let same_type: Vec<&String> = sources.iter().filter(|(_, s)| s.0 == shape.0).map(|(text, _)| text).collect();
        if !same_type.is_empty() && self.one_in(3) {
            return same_type[self.below(same_type.len())].clone();
        }
        let n = shape.2 * shape.3;
        let elements: Vec<String> = (0..n).map(|_| self.scalar(sources, shape.1)).collect();
        if n == 1 { elements[0].clone() } else { format!("{}({})", shape.0, elements.join(", ")) }
    }

    /// A scalar of a type: a literal, or a value computed from an element of a source.
    fn scalar(&mut self, sources: &[(String, Shape)], scalar: &str) -> String {
        if self.one_in(5) {
            return match scalar {
                "float" => self.pick(&["0.25", "-1.5", "0.75", "1.0"]).into(),
                "bool" => self.pick(&["true", "false"]).into(),
                "int" => self.pick(&["-7", "3"]).into(),
                _ => self.pick(&["1u", "4u", "7u"]).into(),
            };
        }
        let (text, (_, source_scalar, columns, rows)) = &sources[self.below(sources.len())];
        let (column, row) = (self.below(*columns), self.below(*rows));
        let element = match (columns, rows) {
            (1, 1) => text.clone(),
            (1, _) => format!("{text}.{}", ["x", "y", "z", "w"][row]),
            _ => format!("{text}[{column}][{row}]"),
        };
        match (*source_scalar, scalar) {
            ("float", "float") => match self.below(3) {
                0 => element,
                1 => format!("({element} * 0.5 + 0.125)"),
                _ => format!("(1.0 - {element})"),
            },
            (a, b) if a == b => element,
            ("float", "bool") => format!("({element} > 0.25)"),
            ("float", "int") => format!("int(bounded({element}) * 3.0)"),
            ("float", "uint") => format!("uint(abs(bounded({element})) * 3.0)"),
            (_, target) => format!("{target}({element})"),
        }
    }

    fn condition(&mut self, sources: &[(String, Shape)]) -> String {
        self.scalar(sources, "bool")
    }
}
