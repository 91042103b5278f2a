//! A second listing of the built-in functions, each with its concrete types. Plain loops over names
//! make it, after the seed and the texts that complete it.

use smallstep_semantics::wsl::library::{Key, type_named};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{EnumId, StructId, Type, TypeId, Types};
use std::collections::BTreeMap;

/// A function's name, as `operator+`, or `cast float4`.
pub type Name = String;

/// The concrete functions: by name and types of the parameters, the type of the result.
pub struct Listing {
    pub types: Types,
    pub functions: BTreeMap<(Name, Vec<TypeId>), TypeId>,
}

/// The type with that text: a name, then suffixes from left to right, as `int[3]* thread`. `E` is
/// an enum with base int, `F` an enum with base uint, `S` a struct.
pub fn ty(types: &mut Types, text: &str) -> TypeId {
    let end = text.find(['[', '*', '<']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let mut id = match name {
        "E" => types.intern(Type::Enum(EnumId(0))),
        "F" => types.intern(Type::Enum(EnumId(1))),
        "S" => types.intern(Type::Struct(StructId(0))),
        _ => match rest.strip_prefix('<') {
            Some(tail) => {
                let (argument, after) = tail.split_once('>').expect("the arguments end");
                rest = after;
                let of = ty(types, argument);
                type_named(types, name, Some(&[smallstep_semantics::wsl::library::TypeArgumentValue::Type(of)])).expect("a texture")
            }
            None => type_named(types, name, None).unwrap_or_else(|e| panic!("{name}: {e:?}")),
        },
    };
    while !rest.is_empty() {
        let (suffix, tail) = rest.split_at(rest.find(['*', ']']).expect("a suffix ends") + 1);
        let space = AddressSpace::ALL.into_iter().find(|s| tail.trim_start().starts_with(s.keyword()) && suffix.len() < 3);
        // `threadgroup` starts with `thread`, so the longer keyword must stand first in that list.
        rest = space.map_or(tail, |s| &tail.trim_start()[s.keyword().len()..]);
        id = match (suffix, space) {
            ("*", Some(space)) => types.intern(Type::Pointer(space, id)),
            ("[]", Some(space)) => types.intern(Type::ArrayReference(space, id)),
            (size, _) => types.intern(Type::Array(id, size[1..size.len() - 1].parse().expect("a size"))),
        };
    }
    id
}

/// The key of a name in the listing.
pub fn key<'a>(types: &mut Types, name: &'a str) -> Key<'a> {
    match name.strip_prefix("cast ") {
        Some(of) => Key::Cast(ty(types, of)),
        None => Key::Name(name),
    }
}

/// Types without a fixed number. They stand for all others of their kind.
pub const OTHERS: [&str; 20] = [
    "E",
    "F",
    "S",
    "int[3]",
    "float4[2]",
    "float4[2][3]",
    "S[5]",
    "int[] thread",
    "E[] device",
    "int* thread",
    "int* constant",
    "float* device",
    "float4* thread",
    "float2x3* threadgroup",
    "atomic_int* device",
    "atomic_uint* threadgroup",
    "int[3]* threadgroup",
    "Texture2D<float4>",
    "RWTexture1D<uint>",
    "TextureDepth2D<float>",
];

const SPACES: [&str; 3] = ["thread", "threadgroup", "device"];

impl Listing {
    fn add(&mut self, name: &str, parameters: &[&str], result: &str) {
        let of: Vec<TypeId> = parameters.iter().map(|p| ty(&mut self.types, p)).collect();
        let result = ty(&mut self.types, result);
        let before = self.functions.insert((name.to_string(), of), result);
        assert!(before.is_none(), "{name}({}) stands twice", parameters.join(", "));
    }

    fn integers(&mut self) {
        for t in ["int", "uint"] {
            for name in ["operator+", "operator-", "operator*", "mul", "operator/", "operator%"] {
                self.add(name, &[t, t], t);
            }
            self.add("operator++", &[t], t);
            self.add("operator--", &[t], t);
            for t in shapes(t) {
                self.add("abs", &[&t], &t);
                self.add("sign", &[&t], &t.replace('u', ""));
                self.add("min", &[&t, &t], &t);
                self.add("max", &[&t, &t], &t);
                self.add("clamp", &[&t, &t, &t], &t);
            }
            self.add("operator<<", &[t, "uint"], t);
            self.add("operator>>", &[t, "uint"], t);
        }
        self.add("operator-", &["int"], "int");
        for t in ["bool", "int", "uint"] {
            for name in ["operator&", "operator|", "operator^"] {
                self.add(name, &[t, t], t);
            }
            self.add("operator~", &[t], t);
        }
        self.add("operator!", &["bool"], "bool");
        for t in shapes("uint") {
            for name in ["countbits", "reversebits", "firstbithigh", "firstbitlow"] {
                self.add(name, &[&t], &t);
            }
        }
        for t in ["bool", "int", "uint", "float"].into_iter().flat_map(shapes) {
            self.add("all", &[&t], "bool");
            self.add("any", &[&t], "bool");
        }
        for t in matrices("bool").into_iter().chain(matrices("float")) {
            self.add("all", &[&t], "bool");
            self.add("any", &[&t], "bool");
        }
    }

    fn floats(&mut self) {
        for name in ["operator+", "operator-", "operator*", "operator/"] {
            self.add(name, &["float", "float"], "float");
        }
        self.add("operator-", &["float"], "float");
        for t in shapes("float").into_iter().chain(matrices("float")) {
            let unary = "cos sin tan acos asin atan cosh sinh tanh ceil floor round trunc frac exp exp2 log log2 log10 sqrt rsqrt degrees radians saturate \
                         abs sign rcp ddx ddy ddx_fine ddx_coarse ddy_fine ddy_coarse fwidth fwidth_fine fwidth_coarse";
            for name in unary.split_whitespace() {
                self.add(name, &[&t], &t);
            }
            for name in ["min", "max", "pow", "step", "ldexp", "fmod", "atan2"] {
                self.add(name, &[&t, &t], &t);
            }
            for name in ["clamp", "smoothstep", "lerp", "mad"] {
                self.add(name, &[&t, &t, &t], &t);
            }
            for name in ["isfinite", "isinf", "isnan"] {
                self.add(name, &[&t], &t.replace("float", "bool"));
            }
            for a in SPACES {
                self.add("modf", &[&t, &format!("{t}* {a}")], &t);
                for b in SPACES {
                    self.add("sincos", &[&t, &format!("{t}* {a}"), &format!("{t}* {b}")], "void");
                }
            }
        }
    }

    fn atomics(&mut self) {
        for t in ["int", "uint"] {
            for place in ["device", "threadgroup"] {
                for out in SPACES {
                    let (place, out) = (format!("atomic_{t}* {place}"), format!("{t}* {out}"));
                    for name in ["Add", "And", "Or", "Xor", "Min", "Max", "Exchange"] {
                        self.add(&format!("Interlocked{name}"), &[&place, t, &out], "void");
                    }
                    self.add("InterlockedCompareExchange", &[&place, t, t, &out], "void");
                }
            }
        }
        for memory in ["Device", "Group", "All"] {
            self.add(&format!("{memory}MemoryBarrierWithGroupSync"), &[], "void");
        }
    }

    fn casts(&mut self) {
        let scalars = ["bool", "uint", "int", "float"];
        for t in scalars {
            for from in scalars {
                self.add(&format!("cast {t}"), &[from], t);
            }
            self.add(&format!("cast {t}"), &[], t);
            let of = |n: usize| if n == 1 { t.to_string() } else { format!("{t}{n}") };
            for n in 2..=4 {
                let name = format!("cast {t}{n}");
                self.add(&name, &[], &of(n));
                // Every ordered split of n. The split into one part is the identity.
                for cuts in 0..1 << (n - 1) {
                    let (mut parts, mut part) = (Vec::new(), 1);
                    for i in 0..n - 1 {
                        if cuts >> i & 1 == 1 {
                            parts.push(of(part));
                            part = 0;
                        }
                        part += 1;
                    }
                    parts.push(of(part));
                    self.add(&name, &parts.iter().map(String::as_str).collect::<Vec<_>>(), &of(n));
                }
            }
        }
        for t in ["bool", "float"] {
            for (n, m) in sizes() {
                let matrix = format!("{t}{n}x{m}");
                let name = format!("cast {matrix}");
                self.add(&name, &[], &matrix);
                self.add(&name, &[&matrix], &matrix);
                self.add(&name, &vec![format!("{t}{m}").as_str(); n], &matrix);
                self.add(&name, &vec![t; n * m], &matrix);
            }
        }
        for t in ["atomic_int", "atomic_uint", "E", "F", "S"] {
            self.add(&format!("cast {t}"), &[], t);
            self.add(&format!("cast {t}"), &[t], t);
        }
        for (e, base) in [("E", "int"), ("F", "uint")] {
            self.add(&format!("cast {e}"), &[base], e);
            self.add(&format!("cast {base}"), &[e], base);
            self.add("operator.value", &[e], base);
        }
        for t in ["int", "uint", "float"] {
            for from in ["int", "uint", "float"] {
                for n in ["", "2", "3", "4"] {
                    self.add(&format!("as{t}"), &[&format!("{from}{n}")], &format!("{t}{n}"));
                }
            }
        }
    }

    fn comparisons(&mut self) {
        for name in ["operator==", "operator!=", "operator<", "operator<=", "operator>", "operator>="] {
            let equality = name.ends_with("!=") || name.ends_with("==");
            for s in ["bool", "uint", "int", "float"] {
                if s == "bool" && !equality {
                    continue;
                }
                self.add(name, &[s, s], "bool");
                for t in shapes(s).into_iter().skip(1).chain(matrices(s)) {
                    let result = t.replacen(s, "bool", 1);
                    self.add(name, &[&t, &t], &result);
                    self.add(name, &[s, &t], &result);
                    self.add(name, &[&t, s], &result);
                }
            }
            if equality {
                self.add(name, &["E", "E"], "bool");
                self.add(name, &["F", "F"], "bool");
            }
        }
    }

    fn composites(&mut self) {
        for s in ["uint", "int", "float"] {
            for t in shapes(s).into_iter().skip(1).chain(matrices(s)) {
                for name in ["operator+", "operator-", "operator*", "operator/"] {
                    self.add(name, &[&t, &t], &t);
                    self.add(name, &[s, &t], &t);
                    self.add(name, &[&t, s], &t);
                }
                self.add("operator+", &[&t], &t);
                if s != "uint" {
                    self.add("operator-", &[&t], &t);
                }
            }
            for t in shapes(s) {
                self.add("dot", &[&t, &t], s);
                if t != "int" && t != "uint" {
                    self.add("mul", &[&t, &t], s);
                }
            }
        }
        for (n, m) in sizes() {
            let matrix = format!("float{n}x{m}");
            self.add("mul", &["float", &matrix], &matrix);
            self.add("mul", &[&matrix, "float"], &matrix);
            self.add("mul", &[&format!("float{m}"), &matrix], &format!("float{n}"));
            self.add("mul", &[&matrix, &format!("float{n}")], &format!("float{m}"));
            for o in 2..=4 {
                self.add("mul", &[&matrix, &format!("float{o}x{n}")], &format!("float{o}x{m}"));
            }
            if n == m {
                self.add("determinant", &[&matrix], "float");
            }
            for t in ["float", "bool"] {
                self.add("transpose", &[&format!("{t}{n}x{m}")], &format!("{t}{m}x{n}"));
            }
        }
        for t in ["float2", "float3", "float4"] {
            self.add("length", &[t], "float");
            self.add("normalize", &[t], t);
            self.add("distance", &[t, t], "float");
            self.add("reflect", &[t, t], t);
            self.add("refract", &[t, t, "float"], t);
            self.add("faceforward", &[t, t, t], t);
        }
        self.add("cross", &["float3", "float3"], "float3");
        self.add("dst", &["float4", "float4"], "float4");
        self.add("lit", &["float", "float", "float"], "float4");
    }

    fn accessors(&mut self) {
        for s in ["bool", "uint", "int", "float"] {
            for n in 2..=4 {
                let vector = format!("{s}{n}");
                self.add("operator.length", &[&vector], "uint");
                self.add("operator[]", &[&vector, "uint"], s);
                self.add("operator[]=", &[&vector, "uint", s], &vector);
                let letters = &"xyzw"[..n];
                let mut words = vec![String::new()];
                for length in 1..=4 {
                    words = words.iter().flat_map(|w| letters.chars().map(move |l| format!("{w}{l}"))).collect();
                    let part = if length == 1 { s.to_string() } else { format!("{s}{length}") };
                    for word in &words {
                        self.add(&format!("operator.{word}"), &[&vector], &part);
                        if letters.chars().all(|l| word.matches(l).count() < 2) {
                            self.add(&format!("operator.{word}="), &[&vector, &part], &vector);
                        }
                    }
                }
            }
        }
        for s in ["bool", "float"] {
            for (n, m) in sizes() {
                let (matrix, column) = (format!("{s}{n}x{m}"), format!("{s}{m}"));
                self.add("operator[]", &[&matrix, "uint"], &column);
                self.add("operator[]=", &[&matrix, "uint", &column], &matrix);
            }
        }
        for (array, of) in [("int[3]", "int"), ("float4[2]", "float4"), ("float4[2][3]", "float4[2]"), ("S[5]", "S")] {
            self.add("operator[]", &[array, "uint"], of);
            self.add("operator[]=", &[array, "uint", of], array);
            self.add("operator.length", &[array], "uint");
            for space in ["thread", "threadgroup", "device", "constant"] {
                self.add("operator&[]", &[&format!("{array}* {space}"), "uint"], &format!("{of}* {space}"));
                self.add("operator.length", &[&format!("{of}[] {space}")], "uint");
            }
        }
        self.add("operator.length", &["E[] device"], "uint");
    }

    fn textures(&mut self) {
        let elements: Vec<String> = ["int", "uint", "float"].into_iter().flat_map(shapes).collect();
        let depth = vec!["float".to_string()];
        // Name, location, offset, gradient, texel with level, the number of sizes, and whether four
        // texels surround a place.
        let sampled = [
            ("Texture1D", "float", "int", "float", "int2", 1, false),
            ("Texture1DArray", "float2", "int", "float", "int3", 2, false),
            ("Texture2D", "float2", "int2", "float2", "int3", 2, true),
            ("Texture2DArray", "float3", "int2", "float2", "int4", 3, true),
            ("Texture3D", "float3", "int3", "float3", "int4", 3, false),
            ("TextureCube", "float3", "", "float3", "", 2, true),
            ("TextureDepth2D", "float2", "int2", "float2", "int3", 2, true),
            ("TextureDepth2DArray", "float3", "int2", "float2", "int4", 3, true),
            ("TextureDepthCube", "float3", "", "float3", "", 2, true),
        ];
        for (kind, location, offset, gradient, texel, sizes, square) in sampled {
            let of_depth = kind.contains("Depth");
            for t in if of_depth { &depth } else { &elements } {
                let texture = format!("{kind}<{t}>");
                let four = format!("{}4", t.trim_end_matches(['2', '3', '4']));
                let texture = texture.as_str();
                let mut sample = |name: &str, more: &[&str], result: &str| {
                    let parameters = [&[texture, "sampler", location], more].concat();
                    self.add(name, &parameters, result);
                    if !offset.is_empty() {
                        self.add(name, &[&parameters[..], &[offset]].concat(), result);
                    }
                };
                sample("Sample", &[], t);
                sample("SampleBias", &["float"], t);
                sample("SampleLevel", &["float"], t);
                sample("SampleGrad", &[gradient, gradient], t);
                if square {
                    for channel in ["", "Red", "Green", "Blue", "Alpha"] {
                        sample(&format!("Gather{channel}"), &[], &four);
                    }
                }
                if of_depth {
                    sample("SampleCmp", &["float"], "float");
                    sample("SampleCmpLevelZero", &["float"], "float");
                    sample("GatherCmp", &["float"], "float4");
                }
                if !texel.is_empty() {
                    self.add("Load", &[texture, texel], t);
                    self.add("Load", &[texture, texel, offset], t);
                }
                self.dimensions(&[texture], sizes);
                self.dimensions(&[texture, "uint"], sizes + 1);
            }
        }
        let writable = [
            ("RWTexture1D", "int", 1),
            ("RWTexture1DArray", "int2", 2),
            ("RWTexture2D", "int2", 2),
            ("RWTexture2DArray", "int3", 3),
            ("RWTexture3D", "int3", 3),
            ("RWTextureDepth2D", "int2", 2),
            ("RWTextureDepth2DArray", "int3", 3),
        ];
        for (kind, place, sizes) in writable {
            for t in if kind.contains("Depth") { &depth } else { &elements } {
                let texture = format!("{kind}<{t}>");
                for place in [place.to_string(), format!("u{place}")] {
                    self.add("Load", &[&texture, &place], t);
                    self.add("Store", &[&texture, t, &place], "void");
                }
                self.dimensions(&[&texture], sizes);
            }
        }
    }

    fn dimensions(&mut self, first: &[&str], pointers: usize) {
        for t in ["uint", "float"] {
            for choice in 0..3usize.pow(pointers as u32) {
                let spaces = (0..pointers).map(|i| SPACES[choice / 3usize.pow(i as u32) % 3]);
                let pointers: Vec<String> = spaces.map(|space| format!("{t}* {space}")).collect();
                let parameters: Vec<&str> = first.iter().copied().chain(pointers.iter().map(String::as_str)).collect();
                self.add("GetDimensions", &parameters, "void");
            }
        }
    }
}

/// The scalar and its vectors.
fn shapes(scalar: &str) -> Vec<String> {
    ["", "2", "3", "4"].iter().map(|n| format!("{scalar}{n}")).collect()
}

fn sizes() -> impl Iterator<Item = (usize, usize)> {
    (2..=4).flat_map(|n| (2..=4).map(move |m| (n, m)))
}

/// The matrices of the scalar, if there are any.
fn matrices(scalar: &str) -> Vec<String> {
    if scalar == "int" || scalar == "uint" { Vec::new() } else { sizes().map(|(n, m)| format!("{scalar}{n}x{m}")).collect() }
}

/// The whole listing.
pub fn listing() -> Listing {
    let mut types = Types::default();
    types.enum_bases = vec![TypeId::INT, TypeId::UINT];
    let mut listing = Listing { types, functions: BTreeMap::new() };
    for other in OTHERS {
        ty(&mut listing.types, other);
    }
    listing.integers();
    listing.floats();
    listing.atomics();
    listing.casts();
    listing.comparisons();
    listing.composites();
    listing.accessors();
    listing.textures();
    listing
}
