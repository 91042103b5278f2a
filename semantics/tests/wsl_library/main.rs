//! WSL's standard library compared with a second listing, which plain loops make after the texts.
//! Also integer literals, names of types, and `LIBRARY.md`.

mod listing;

use listing::{Listing, OTHERS, key, listing, ty};
use pretty_assertions::assert_eq;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::library::pattern::Pattern;
use smallstep_semantics::wsl::library::{
    self, Argument, Key, Meaning, Name, Overload, Stages, TABLE, TypeArgumentValue, TypeNameError, UserNames, all_named, declares,
    is_type_name, overloads, type_name, type_named,
};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{BUILT_IN, EnumId, Scalar, StructId, TextureKind, Type, TypeId, Types};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

struct Names;

impl UserNames for Names {
    fn struct_name(&self, _: StructId) -> &str {
        "S"
    }

    fn enum_name(&self, id: EnumId) -> &str {
        if id.0 == 0 { "E" } else { "F" }
    }
}

fn of(ids: &[TypeId]) -> Vec<Argument> {
    ids.iter().map(|&id| Argument::Typed(id)).collect()
}

fn found(types: &mut Types, key: Key, arguments: &[Argument]) -> Vec<Overload> {
    let mut out = Vec::new();
    overloads(types, key, arguments, &mut out);
    out
}

fn text(types: &Types, name: &str, parameters: &[TypeId]) -> String {
    let parameters: Vec<String> = parameters.iter().map(|&id| type_name(types, id, &Names)).collect();
    format!("{name}({})", parameters.join(", "))
}

/// The first few differences between the table and the listing. In one kind, the table lacks a
/// function of the listing, or gives it another result. In the other, the table accepts a call that
/// the listing lacks, near a function of the listing.
fn differences(listing: &Listing) -> Vec<String> {
    let mut types = listing.types.clone();
    let mut out = Vec::new();
    let mut known: HashMap<(&str, usize), HashMap<&[TypeId], TypeId>> = HashMap::new();
    for ((name, parameters), &result) in &listing.functions {
        known.entry((name, parameters.len())).or_default().insert(parameters, result);
    }
    // The calls near a function: every call of up to two arguments, and of three arguments with
    // fixed types. For more, the function's own types with one argument changed.
    let fixed: Vec<TypeId> = (0..BUILT_IN).map(TypeId).collect();
    let mut universe = fixed.clone();
    universe.extend(OTHERS.map(|text| ty(&mut types, text)));
    for (&(name, count), functions) in &known {
        let key = key(&mut types, name);
        let mut check = |call: &[TypeId]| {
            if out.len() > 10 {
                return;
            }
            let overloads = found(&mut types, key, &of(call));
            let results: Vec<TypeId> = overloads.iter().map(|o| o.result).collect();
            let expected: Vec<TypeId> = functions.get(call).into_iter().copied().collect();
            if results != expected || overloads.iter().any(|o| o.parameters[..] != *call) {
                out.push(format!("{}: {results:?} for {expected:?}", text(&types, name, call)));
            }
            assert_eq!(declares(&types, key, call), !results.is_empty());
        };
        match count {
            0 => check(&[]),
            1 => universe.iter().for_each(|&a| check(&[a])),
            2 => universe.iter().for_each(|&a| universe.iter().for_each(|&b| check(&[a, b]))),
            3 => fixed.iter().for_each(|&a| fixed.iter().for_each(|&b| fixed.iter().for_each(|&c| check(&[a, b, c])))),
            _ => {}
        }
        for call in functions.keys() {
            check(call);
            for at in 0..count {
                let mut changed = call.to_vec();
                for &other in &universe {
                    changed[at] = other;
                    check(&changed);
                }
            }
        }
    }
    out.sort();
    out
}

#[test]
fn the_table_declares_what_the_listing_has_and_no_more() {
    let listing = listing();
    assert_eq!(differences(&listing), Vec::<String>::new());
    // The listing has each named function of the table, with the same number of parameters. Casts
    // and accessors have other names.
    let listed: BTreeSet<(&str, usize)> = listing.functions.keys().map(|(name, parameters)| (name.as_str(), parameters.len())).collect();
    for row in TABLE.iter().flat_map(|s| s.rows) {
        for signature in row.signatures {
            if let Name::Function(name) = row.name {
                assert!(listed.contains(&(name, signature.parameters.len())), "{name}");
            }
        }
    }
    assert!(listing.functions.len() > 16_000, "{}", listing.functions.len());
}

#[test]
fn a_wrong_listing_is_noticed() {
    let right = listing();
    let mut types = right.types.clone();
    let mut id = |text: &str| ty(&mut types, text);
    let mut wrong: Vec<(&str, Vec<TypeId>, Option<TypeId>)> = vec![
        ("sin", vec![id("float3")], None),
        ("sin", vec![id("int")], Some(id("int"))),
        ("mul", vec![id("float2x3"), id("float2")], Some(id("float2"))),
        ("operator&[]", vec![id("int[3]* thread"), id("uint")], Some(id("int* device"))),
        ("cast float3", vec![id("float2"), id("float")], None),
        ("InterlockedAdd", vec![id("atomic_int* device"), id("uint"), id("int* thread")], Some(id("void"))),
        ("Sample", vec![id("Texture2D<float4>"), id("sampler"), id("float2"), id("int2")], None),
        ("operator.xx=", vec![id("float3"), id("float2")], Some(id("float3"))),
        ("operator.w", vec![id("float3")], Some(id("float"))),
    ];
    for (name, parameters, result) in wrong.drain(..) {
        let mut planted = Listing { types: types.clone(), functions: BTreeMap::new() };
        planted
            .functions
            .extend(right.functions.iter().filter(|((n, p), _)| n == name && p.len() == parameters.len()).map(|(k, &r)| (k.clone(), r)));
        match result {
            Some(result) => planted.functions.insert((name.into(), parameters), result),
            None => planted.functions.remove(&(name.into(), parameters)),
        };
        assert!(!differences(&planted).is_empty(), "{name}");
    }
}

/// The types that an argument may have. Only a literal may have several.
fn readings(argument: Argument) -> Vec<TypeId> {
    match argument {
        Argument::Typed(id) => vec![id],
        Argument::Integer { int, uint } => {
            [(TypeId::FLOAT, true), (TypeId::INT, int), (TypeId::UINT, uint)].into_iter().filter(|x| x.1).map(|x| x.0).collect()
        }
    }
}

/// A call with literals can resolve to the functions that it can resolve to with each possible type
/// in their places.
#[test]
fn integer_literals_are_of_each_type_that_they_can_be_given() {
    let listing = listing();
    let mut types = listing.types.clone();
    let literals = [(true, true), (true, false), (false, true), (false, false)].map(|(int, uint)| Argument::Integer { int, uint });
    let names: BTreeSet<(&str, usize)> = listing.functions.keys().map(|(name, parameters)| (name.as_str(), parameters.len())).collect();
    let mut accepted = 0;
    for (name, count) in names {
        let key = key(&mut types, name);
        let mut calls: HashSet<Vec<TypeId>> = HashSet::new();
        for (_, parameters) in listing.functions.keys().filter(|(n, p)| n == name && p.len() == count).take(60) {
            calls.insert(parameters.clone());
        }
        for call in calls {
            for at in 1..1usize << count.min(5) {
                let literal = literals[(at + call.len()) % 4];
                let arguments: Vec<Argument> =
                    call.iter().enumerate().map(|(i, &id)| if at >> i & 1 == 1 { literal } else { Argument::Typed(id) }).collect();
                let mut expected = BTreeSet::new();
                let mut plain: Vec<Vec<TypeId>> = vec![Vec::new()];
                for argument in &arguments {
                    plain = plain.iter().flat_map(|p| readings(*argument).into_iter().map(move |id| [&p[..], &[id]].concat())).collect();
                }
                for reading in plain {
                    if let Some(&result) = listing.functions.get(&(name.to_string(), reading.clone())) {
                        expected.insert((reading, result));
                    }
                }
                let overloads = found(&mut types, key, &arguments);
                let results: BTreeSet<(Vec<TypeId>, TypeId)> = overloads.iter().map(|o| (o.parameters.to_vec(), o.result)).collect();
                assert_eq!(results, expected, "{name} {arguments:?}");
                assert_eq!(results.len(), overloads.len(), "{name}: an overload stands twice");
                accepted += results.len();
            }
        }
    }
    assert!(accepted > 4_000, "{accepted}");
}

/// The parameters of every overload to which a call can resolve. `#` is a literal like 1, `-#` a
/// literal like -1, and `##` a literal that is too large for an integer.
fn call(name: &str, arguments: &str) -> Vec<String> {
    let mut types = listing().types;
    let key = key(&mut types, name);
    let arguments: Vec<Argument> = arguments
        .split(' ')
        .filter(|a| !a.is_empty())
        .map(|a| match a {
            "#" => Argument::Integer { int: true, uint: true },
            "-#" => Argument::Integer { int: true, uint: false },
            "##" => Argument::Integer { int: false, uint: false },
            _ => Argument::Typed(ty(&mut types, a)),
        })
        .collect();
    let mut out: Vec<String> = found(&mut types, key, &arguments)
        .iter()
        .map(|o| format!("{} {}", type_name(&types, o.result, &Names), text(&types, "", &o.parameters)))
        .collect();
    out.sort();
    out
}

#[test]
fn calls_with_literals_by_hand() {
    let none: [&str; 0] = [];
    assert_eq!(call("operator+", "# #"), ["float (float, float)", "int (int, int)", "uint (uint, uint)"]);
    assert_eq!(call("operator+", "# -#"), ["float (float, float)", "int (int, int)"]);
    assert_eq!(call("operator+", "uint #"), ["uint (uint, uint)"]);
    assert_eq!(call("operator+", "uint -#"), none);
    assert_eq!(call("operator+", "float3 #"), ["float3 (float3, float)"]);
    assert_eq!(call("operator*", "# int2"), ["int2 (int, int2)"]);
    assert_eq!(call("operator<<", "# #"), ["int (int, uint)", "uint (uint, uint)"]);
    assert_eq!(call("operator<<", "# int"), none);
    assert_eq!(call("cast int", "#"), ["int (float)", "int (int)", "int (uint)"]);
    assert_eq!(call("cast int", "##"), ["int (float)"]);
    assert_eq!(call("cast float3", "# # #"), ["float3 (float, float, float)"]);
    assert_eq!(call("cast float3", "#"), none);
    assert_eq!(call("cast uint2", "# -#"), none);
    assert_eq!(call("cast E", "-#"), ["E (int)"]);
    assert_eq!(call("cast F", "-#"), none);
    assert_eq!(call("cast bool", "#"), ["bool (float)", "bool (int)", "bool (uint)"]);
    assert_eq!(call("operator==", "E #"), none);
    assert_eq!(call("operator[]", "float4 #"), ["float (float4, uint)"]);
    assert_eq!(call("operator[]", "float4 -#"), none);
    assert_eq!(call("operator.x=", "float4 #"), ["float4 (float4, float)"]);
    assert_eq!(call("mul", "# float2x2"), ["float2x2 (float, float2x2)"]);
    assert_eq!(call("sign", "#"), ["float (float)", "int (int)", "int (uint)"]);
    assert_eq!(call("operator-", "#"), ["float (float)", "int (int)"]);
    assert_eq!(call("operator~", "#"), ["int (int)", "uint (uint)"]);
    assert_eq!(call("asint", "#"), ["int (float)", "int (int)", "int (uint)"]);
    assert_eq!(call("operator+", "#"), none);
    assert_eq!(call("operator!", "#"), none);
    assert_eq!(call("nothing", "#"), none);
    assert_eq!(call("operator.", "float4"), none);
    assert_eq!(call("operator.xyzwx", "float4"), none);
    assert_eq!(call("operator.r", "float4"), none);
    assert_eq!(call("operator.x", "float"), none);
    assert_eq!(call("cast sampler", ""), none);
    assert_eq!(call("cast Texture2D", ""), none);
    assert_eq!(call("cast void", ""), none);
    assert_eq!(call("cast int[3]", ""), none);
    assert_eq!(call("cast sampler", "sampler"), none);
}

#[test]
fn instances_say_what_they_are() {
    let mut types = listing().types;
    let (vector, pair) = (ty(&mut types, "float4"), ty(&mut types, "float2"));
    let setter = &found(&mut types, Key::Name("operator.wy="), &of(&[vector, pair]))[0];
    assert_eq!(setter.function.meaning(), Meaning::SetSwizzle);
    assert_eq!((setter.function.word(), setter.function.variable()), (&[3, 1][..], Some(vector)));
    let other = &found(&mut types, Key::Name("operator.yw="), &of(&[vector, pair]))[0];
    assert_ne!(setter.function, other.function);
    let (value, out) = (ty(&mut types, "float"), ty(&mut types, "float* threadgroup"));
    let modf = &found(&mut types, Key::Name("modf"), &of(&[value, out]))[0];
    assert_eq!((modf.function.space(0), modf.function.space(1)), (None, Some(AddressSpace::Threadgroup)));
    assert_eq!(modf.function.rule(), Rule::WslLibModf);
}

/// Functions of equal instances have equal parameters, and functions of different instances have
/// different parameters. So an instance identifies its function.
#[test]
fn instances_are_distinct() {
    let listing = listing();
    let mut types = listing.types.clone();
    let mut seen = HashMap::new();
    for (name, parameters) in listing.functions.keys() {
        let key = key(&mut types, name);
        let overload = found(&mut types, key, &of(parameters)).remove(0);
        if let Some(other) = seen.insert(overload.function, text(&types, name, parameters)) {
            panic!("{} and {other} are one instance", text(&types, name, parameters));
        }
    }
}

/// Seed 004 "Checking the coherence of operators and functions": every setter has its getter.
#[test]
fn setters_have_their_getters() {
    let listing = listing();
    let mut types = listing.types.clone();
    let mut setters = 0;
    for (name, parameters) in listing.functions.keys() {
        let Some((getter, (set, rest))) =
            name.strip_suffix('=').filter(|n| n.starts_with("operator.") || *n == "operator[]").zip(parameters.split_last())
        else {
            continue;
        };
        let results: Vec<TypeId> = found(&mut types, Key::Name(getter), &of(rest)).iter().map(|o| o.result).collect();
        assert_eq!(results, [*set], "{}", text(&types, name, parameters));
        setters += 1;
    }
    assert!(setters > 300, "{setters}");
}

#[test]
fn stages() {
    let fragment: BTreeSet<&str> =
        "ddx ddy ddx_fine ddx_coarse ddy_fine ddy_coarse fwidth fwidth_fine fwidth_coarse Sample SampleBias SampleCmp"
            .split_whitespace()
            .collect();
    for row in TABLE.iter().flat_map(|s| s.rows) {
        let expected = match row.name {
            Name::Function(name) if fragment.contains(name) => Stages::FRAGMENT,
            Name::Function(name) if name.ends_with("MemoryBarrierWithGroupSync") => Stages::COMPUTE,
            _ => Stages::ALL,
        };
        assert_eq!(row.stages, expected, "{:?}", row.name);
    }
    assert!(Stages::ALL.contains(Stages::VERTEX) && !Stages::FRAGMENT.contains(Stages::ALL));
    assert_eq!(Stages::ALL.and(Stages::COMPUTE), Stages::COMPUTE);
    assert_eq!((Stages::ALL.text().as_str(), Stages::VERTEX.text().as_str()), ("all", "vertex"));
}

#[test]
fn each_rule_of_the_library_has_one_section_or_declares_types() {
    let rules: Vec<Rule> = TABLE.iter().map(|s| s.rule).collect();
    assert_eq!(rules.iter().collect::<HashSet<_>>().len(), rules.len(), "a rule has two sections");
    let of_types = Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Library && !rules.contains(r));
    assert!(of_types.clone().all(|r| r.item().starts_with("wsl::validation::library::types::")), "{:?}", of_types.collect::<Vec<_>>());
    for section in TABLE {
        for row in section.rows {
            assert!(row.says.ends_with('.') && !row.says.contains('\n') && !row.says.contains("  "), "{:?}", row.says);
            assert!(!row.signatures.is_empty());
            // An instance records the address spaces of eight parameters.
            for signature in row.signatures {
                let last = signature.parameters.iter().rposition(|p| matches!(p, Pattern::Pointer(..)));
                assert!(last.is_none_or(|at| at < 8), "{:?}", row.name);
            }
        }
    }
}

#[test]
fn names_of_types() {
    let mut types = Types::default();
    let integer = TypeArgumentValue::Integer;
    let of = TypeArgumentValue::Type;
    let mut named = |name: &str, arguments: Option<&[TypeArgumentValue]>| type_named(&mut types, name, arguments);
    for (name, id) in [
        ("void", TypeId::VOID),
        ("bool", TypeId::BOOL),
        ("uint", TypeId::UINT),
        ("int", TypeId::INT),
        ("float", TypeId::FLOAT),
        ("atomic_int", TypeId::ATOMIC_INT),
        ("atomic_uint", TypeId::ATOMIC_UINT),
        ("sampler", TypeId::SAMPLER),
    ] {
        assert_eq!(named(name, None), Ok(id));
        assert!(matches!(named(name, Some(&[])), Err(TypeNameError::Arguments(..))), "{name}<>");
        assert!(is_type_name(name));
    }
    for s in Scalar::ALL {
        for n in 2..=4 {
            assert_eq!(named(&format!("{}{n}", s.name()), None), Ok(TypeId::vector(s, n)));
            assert_eq!(named("vector", Some(&[of(TypeId::scalar(s)), integer(n.into())])), Ok(TypeId::vector(s, n)));
            for m in 2..=4 {
                let short = named(&format!("{}{n}x{m}", s.name()), None);
                let long = named("matrix", Some(&[of(TypeId::scalar(s)), integer(n.into()), integer(m.into())]));
                if matches!(s, Scalar::Bool | Scalar::Float) {
                    assert_eq!((short, long), (Ok(TypeId::matrix(s, n, m)), Ok(TypeId::matrix(s, n, m))));
                } else {
                    assert_eq!(short, Err(TypeNameError::Unknown));
                    assert!(matches!(long, Err(TypeNameError::Arguments(Rule::WslLibMatrix, _))));
                }
            }
        }
    }
    let (float, four) = (of(TypeId::FLOAT), of(TypeId::vector(Scalar::Float, 4)));
    let wrong: [(&str, Option<&[TypeArgumentValue]>, &str); 16] = [
        ("vector", None, "`vector` has 0 type arguments; it needs 2: the type of the elements and their number"),
        ("vector", Some(&[float]), "`vector` has 1 type argument; it needs 2: the type of the elements and their number"),
        ("vector", Some(&[float, integer(5)]), "the number of elements of `vector` is 5; it must be 2, 3 or 4"),
        ("vector", Some(&[float, integer(1)]), "the number of elements of `vector` is 1; it must be 2, 3 or 4"),
        ("vector", Some(&[float, integer(-2)]), "the number of elements of `vector` is -2; it must be 2, 3 or 4"),
        ("vector", Some(&[float, float]), "the number of elements of `vector` must be an integer literal: 2, 3 or 4"),
        ("vector", Some(&[four, integer(2)]), "the elements of `vector` must be bool, uint, int or float"),
        (
            "matrix",
            Some(&[float, integer(2)]),
            "`matrix` has 2 type arguments; it needs 3: the type of the elements, the number of columns and the number of rows",
        ),
        ("matrix", Some(&[float, integer(2), integer(5)]), "the number of rows of `matrix` is 5; it must be 2, 3 or 4"),
        ("matrix", Some(&[of(TypeId::INT), integer(2), integer(2)]), "the elements of `matrix` must be bool or float"),
        ("float4", Some(&[float]), "`float4` has 1 type argument; it takes none"),
        ("Texture2D", Some(&[]), "`Texture2D` has 0 type arguments; it needs 1, or none without the `<` and `>`"),
        ("Texture2D", Some(&[of(TypeId::BOOL)]), "the elements of `Texture2D` must be uint, int, float or a vector of them"),
        (
            "Texture2D",
            Some(&[of(TypeId::matrix(Scalar::Float, 2, 2))]),
            "the elements of `Texture2D` must be uint, int, float or a vector of them",
        ),
        ("TextureDepth2D", Some(&[four]), "the elements of `TextureDepth2D` must be float"),
        ("Texture2D", Some(&[TypeArgumentValue::Other]), "the argument of `Texture2D` must be a type"),
    ];
    for (name, arguments, message) in wrong {
        match named(name, arguments) {
            Err(TypeNameError::Arguments(_, found)) => assert_eq!(found, message),
            other => panic!("{name}: {other:?}"),
        }
    }
    let mut textures = HashSet::new();
    for kind in TextureKind::ALL {
        let default = named(kind.name(), None).expect("a texture");
        let expected = if kind.depth() { TypeId::FLOAT } else { TypeId::vector(Scalar::Float, 4) };
        assert_eq!(named(kind.name(), Some(&[of(expected)])), Ok(default));
        assert!(textures.insert(default) && is_type_name(kind.name()));
    }
    for name in
        "dword min16float min10float min16int min12int min16uint string size_t ptrdiff_t double float64 int64 uint64 float1 float5 float22 float2x5 float2x \
         int2x2 uint2x2 half Float atomic_float atomic_bool TextureDepth3D RWTextureCube Texture texture2D float4x44 x"
            .split_whitespace()
    {
        assert_eq!(named(name, None), Err(TypeNameError::Unknown), "{name}");
        assert!(!is_type_name(name), "{name}");
    }
    assert!(is_type_name("vector") && is_type_name("matrix") && is_type_name("float4") && is_type_name("bool4x3"));
}

#[test]
fn printed_types_can_be_read_back() {
    let listing = listing();
    let mut types = listing.types.clone();
    for id in (0..listing.types.len() as u32).map(TypeId) {
        let printed = type_name(&listing.types, id, &Names);
        assert_eq!(ty(&mut types, &printed), id, "{printed}");
    }
    // As deep as types can be nested.
    let mut id = TypeId::INT;
    for _ in 0..10_000 {
        id = types.intern(Type::Pointer(AddressSpace::Thread, id));
    }
    let printed = type_name(&types, id, &());
    assert_eq!((printed.len(), ty(&mut types, &printed)), (3 + 8 * 10_000, id));
}

#[test]
fn candidates_of_a_call_that_fails() {
    let mut types = listing().types;
    let mut named = |name: &str, count: Option<usize>| {
        let key = key(&mut types, name);
        all_named(&types, key, count, &Names)
    };
    assert_eq!(named("operator%", Some(2)), ["T operator%(T, T), T: uint or int"]);
    assert_eq!(
        named("operator-", Some(1)),
        ["int operator-(int)", "float operator-(float)", "T operator-(T), T: intN, floatN or floatNxM"]
    );
    assert_eq!(named("cast float3", None).len(), 5);
    assert_eq!(named("cast float3", Some(2)), ["float3(float2, float)", "float3(float, float2)"]);
    assert_eq!(named("cast int", Some(1)), ["int(int)", "int(T), T: bool, uint or float", "int(T), T: an enum of int"]);
    assert_eq!(named("cast F", Some(1)), ["F(F)", "F(uint)"]);
    assert_eq!(named("cast S", None), ["S()", "S(S)"]);
    assert_eq!(named("cast float3x4", Some(12)), ["float3x4(float × 12)"]);
    assert_eq!(named("cast float2x3", Some(2)), ["float2x3(float3, float3)"]);
    assert_eq!(named("operator.zw", Some(1)), ["vector<scalar<T>, 2> operator.zw(T), T: bool4, uint4, int4 or float4"]);
    assert_eq!(named("operator.rg", Some(1)), Vec::<String>::new());
    assert_eq!(
        named("InterlockedAdd", None),
        ["void InterlockedAdd(atomic<T>* device|threadgroup, T, T* device|threadgroup|thread), T: uint or int"]
    );
    assert_eq!(named("sine", None), Vec::<String>::new());
}

/// `LIBRARY.md` agrees with the table. `SPEC_BLESS=1` writes it.
#[test]
fn the_page_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("LIBRARY.md");
    if std::env::var_os("SPEC_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, library::page()).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    pretty_assertions::assert_str_eq!(
        found,
        library::page(),
        "to bless: SPEC_BLESS=1 cargo test -p smallstep-semantics --test wsl_library"
    );
}
