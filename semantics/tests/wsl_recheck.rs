//! The recheck of typed programs refutes corrupt ones. Corruptions are planted by hand, and at
//! every node of generated programs.

use smallstep_generate::wsl::typed::program as generated;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::environment::{FunctionId, Semantic};
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::syntax::{AddressSpace, FunctionKind};
use smallstep_semantics::wsl::types::{StructId, Type, TypeId, ValueType};
use smallstep_semantics::wsl::typing::behaviour::{Behaviour, Behaviours};
use smallstep_semantics::wsl::typing::program::{Access, Coercion, Constant, Expr, ExprId, Form, Program, StmtForm, StmtId, StoreId};
use smallstep_semantics::wsl::validate::validate;

/// A program with all the forms that the corruptions below change.
const TEXT: &str = "
    struct In { float4 place : attribute(0); nointerpolation int which : attribute(1); }
    struct Out { float4 place : SV_Position; float size : PSIZE; }
    struct S { int a; float2 b; int[3] c; }
    enum E { A, B, C }
    int operator.twice(S s) { return s.a * 2; }
    S operator.twice=(S s, int v) { s.a = v / 2; return s; }
    thread float* operator&[](thread S* s, uint i) { return &s->b.gone; }
    float operator.gone(float2 v) { return v.x; }
    int over(int a) { return a; }
    int over(uint a) { return 1; }
    uint over(float a) { return 2; }
    thread int* point(thread int* p) { return p; }
    void quits() { discard; }
    int body(S s, thread int* p, device uint[] r, E e, bool c) {
        int x = 5;
        int y;
        uint u = 7;
        c = true;
        y = S().a;
        x = y;
        x++;
        ++u;
        x += 3;
        *p = s.twice;
        s.twice = 4;
        s.c[1] = x;
        r[u] = u;
        float2 v = float2(1, 2.5);
        v.x = v.y;
        thread int* q = &x;
        thread int[] t = @s.c;
        u = t.length + s.c.length;
        x = c ? 1 : 2;
        x = c && (u == 7u) || false ? x : y;
        over(3);
        point(q);
        (x, y);
        if (c) { x = 1; } else y = 2;
        while (c) { if (c) break; else continue; }
        for (int i = 0; i < 4; i++) { }
        do { x = 3; } while (c);
        switch (e) { case E.A: x = 1; fallthrough; case E.B: break; default: return 0; }
        switch (x) { case 1: return 4; case 2: return 5; default: return 6; }
    }
    fragment float4 pixels(In i, Texture2D<float4> picture : register(t0), sampler s : register(s0)) : SV_Target 0 {
        quits();
        return Sample(picture, s, i.place.xy);
    }
    vertex Out points(In i, float scale : specialized) { Out o; o.place = i.place; return o; }
    [numthreads(8, 2, 1)] compute void work(uint i : SV_GroupIndex, device float[] data : register(u0)) {
        threadgroup int[4] shared;
        shared[0] = 1;
        AllMemoryBarrierWithGroupSync();
        data[i] = 1;
    }
";

fn typed(text: &str) -> Program {
    let found = validate(text);
    let first = found.errors.first().map(|e| format!("[{}] {} at {}", e.rule, e.message, &text[e.span.start as usize..]));
    found.program.unwrap_or_else(|| panic!("{first:?}"))
}

/// The typed program. In place of an address-taker of a value, which is no left-value, it has one
/// that is valid.
fn base() -> Program {
    let text = TEXT.replace("{ return &s->b.gone; }", "{ float f; return &f; }");
    let p = typed(&text);
    recheck(&p).unwrap_or_else(|r| panic!("{r}"));
    p
}

#[track_caller]
fn refuted(change: impl FnOnce(&mut Program)) {
    let mut p = base();
    change(&mut p);
    assert!(recheck(&p).is_err(), "the corruption is not seen");
}

fn expr(p: &Program, is: impl Fn(&Expr) -> bool) -> usize {
    p.exprs.iter().position(is).expect("there is such an expression")
}

fn by_rule(p: &mut Program, rule: Rule) -> &mut Expr {
    let i = expr(p, |e| e.rule == rule);
    &mut p.exprs[i]
}

fn stmt(p: &mut Program, is: impl Fn(&StmtForm) -> bool) -> usize {
    p.stmts.iter().position(|s| is(&s.form)).expect("there is such a statement")
}

fn function(p: &Program, name: &str) -> FunctionId {
    let i = p.env.functions.iter().position(|f| p.env.names.name(f.name.name) == name).expect("there is such a function");
    FunctionId(i as u32)
}

#[test]
fn types_of_expressions() {
    for (rule, ty) in [
        (Rule::WslTLiteralTrue, TypeId::INT),
        (Rule::WslTLiteralInt, TypeId::BOOL),
        (Rule::WslTLiteralFloat, TypeId::INT),
        (Rule::WslTLiteralUint, TypeId::INT),
        (Rule::WslTParens, TypeId::FLOAT),
        (Rule::WslTComma, TypeId::FLOAT),
        (Rule::WslTOr, TypeId::INT),
        (Rule::WslTAnd, TypeId::INT),
        (Rule::WslTTernaryIntLiterals, TypeId::UINT),
        (Rule::WslTTernaryNoIntLiterals, TypeId::UINT),
        (Rule::WslTAssignment, TypeId::VOID),
        (Rule::WslTAddressTaking, TypeId::INT),
        (Rule::WslTTakeRefLval, TypeId::INT),
        (Rule::WslTDotGetter, TypeId::UINT),
        (Rule::WslTLengthArray, TypeId::INT),
        (Rule::WslTLengthReference, TypeId::INT),
        (Rule::WslTPostfixIncr, TypeId::FLOAT),
        (Rule::WslTPrefixIncr, TypeId::FLOAT),
        (Rule::WslTOperatorPlusEqual, TypeId::UINT),
        (Rule::WslTCall, TypeId::VOID),
        (Rule::WslTCallLiterals, TypeId::UINT),
        (Rule::WslTLvalToRval, TypeId::VOID),
        (Rule::WslTAlvalToRval, TypeId::VOID),
    ] {
        refuted(|p| {
            let node = by_rule(p, rule);
            assert_ne!(node.ty, ValueType::Right(ty), "{rule}");
            node.ty = ValueType::Right(ty);
        });
    }
}

#[test]
fn kinds_and_spaces() {
    // A left-value in another address space, an abstract left-value that is a left-value, and a
    // right-value that is not loaded.
    refuted(|p| by_rule(p, Rule::WslTVariableName).ty = ValueType::Left(TypeId::INT, AddressSpace::Device));
    refuted(|p| {
        let node = by_rule(p, Rule::WslTPtrDeref);
        node.ty = ValueType::Left(node.ty.right(), AddressSpace::Device);
    });
    refuted(|p| {
        let node = by_rule(p, Rule::WslTArrayRefIndex);
        node.ty = ValueType::Left(node.ty.right(), AddressSpace::Constant);
    });
    refuted(|p| {
        let node = by_rule(p, Rule::WslTDotSetter);
        node.ty = ValueType::Left(node.ty.right(), AddressSpace::Thread);
    });
    refuted(|p| {
        let node = by_rule(p, Rule::WslTDotAddressTaker);
        node.ty = ValueType::Abstract(node.ty.right());
    });
    refuted(|p| {
        let node = by_rule(p, Rule::WslTIndexAddressTaker);
        node.ty = ValueType::Right(node.ty.right());
    });
    // A coercion is dropped, so its parent takes the left-value itself.
    refuted(|p| {
        let loads = |e: &Expr| matches!(e.form, Form::Assign(_, value) if matches!(p.expr(value).form, Form::Coerce(..)));
        let i = expr(p, loads);
        let Form::Assign(to, value) = p.exprs[i].form else { unreachable!() };
        let Form::Coerce(_, inner) = p.expr(value).form else { panic!("the value is loaded") };
        p.exprs[i].form = Form::Assign(to, inner);
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::Assign(..)));
        let Form::Assign(to, value) = p.exprs[i].form else { unreachable!() };
        let Form::Coerce(_, inner) = p.expr(to).form else { panic!("the target is coerced") };
        p.exprs[i].form = Form::Assign(inner, value);
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::Coerce(Coercion::LeftToRight, _)));
        let Form::Coerce(_, e) = p.exprs[i].form else { unreachable!() };
        p.exprs[i].form = Form::Coerce(Coercion::AbstractToRight, e);
    });
    // An assignment to the constant address space. Store, variable and coercion agree with
    // each other.
    refuted(|p| {
        let variable =
            |e: &Expr| matches!(e.form, Form::Coerce(Coercion::LeftToAbstract, e) if matches!(p.expr(e).form, Form::Variable(_)));
        let i = expr(p, variable);
        let Form::Coerce(_, e) = p.exprs[i].form else { unreachable!() };
        let Form::Variable(store) = p.expr(e).form else { panic!("a variable is assigned to") };
        p.stores[store.0 as usize].space = AddressSpace::Constant;
        for node in &mut p.exprs {
            if node.form == Form::Variable(store) {
                node.ty = ValueType::Left(node.ty.right(), AddressSpace::Constant);
            }
        }
    });
}

#[test]
fn literals_and_sizes() {
    refuted(|p| by_rule(p, Rule::WslTLiteralInt).form = Form::Constant(Constant::Bool(true)));
    refuted(|p| by_rule(p, Rule::WslTLiteralTrue).rule = Rule::WslTLiteralFalse);
    refuted(|p| {
        let i = expr(p, |e| e.rule == Rule::WslTLiteralInt && matches!(e.form, Form::Constant(Constant::Float(_))));
        p.exprs[i].form = Form::Constant(Constant::Float(1.5f32.to_bits()));
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::ArrayLength(..)));
        let Form::ArrayLength(e, n) = p.exprs[i].form else { unreachable!() };
        p.exprs[i].form = Form::ArrayLength(e, n + 1);
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::MakeReference(..)));
        let Form::MakeReference(e, _) = p.exprs[i].form else { unreachable!() };
        p.exprs[i].form = Form::MakeReference(e, None);
    });
    refuted(|p| {
        let mut done = false;
        for s in &mut p.stmts {
            if let StmtForm::Switch(_, cases) = &mut s.form {
                for case in cases {
                    if let Some(Constant::Element(i)) = &mut case.value {
                        *i = 7;
                        done = true;
                    }
                }
            }
        }
        assert!(done);
    });
}

#[test]
fn callees() {
    // Another overload, a library function of the same types, an entry point, a generated function,
    // and a getter in place of a setter.
    refuted(|p| {
        let i = expr(p, |e| e.rule == Rule::WslTCallLiterals);
        let other = function(p, "over").0 + 1;
        let Form::Call(callee, _) = &mut p.exprs[i].form else { unreachable!() };
        *callee = Callee::Declared(FunctionId(other));
    });
    refuted(|p| {
        let i = expr(p, |e| e.rule == Rule::WslTCallLiterals);
        p.exprs[i].rule = Rule::WslTCall;
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::CompoundAssign(..)));
        let j = expr(p, |e| matches!(&e.form, Form::Call(Callee::Library(f), _) if f.row().stages.text() == "compute"));
        let Form::Call(other, _) = p.exprs[j].form else { unreachable!() };
        let Form::CompoundAssign(callee, ..) = &mut p.exprs[i].form else { unreachable!() };
        *callee = other;
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::Step(..)));
        let j = expr(p, |e| matches!(e.form, Form::CompoundAssign(..)));
        let Form::CompoundAssign(other, ..) = p.exprs[j].form else { unreachable!() };
        let Form::Step(_, _, _, callee, _) = &mut p.exprs[i].form else { unreachable!() };
        *callee = other;
    });
    refuted(|p| {
        let pixels = function(p, "work");
        let i = expr(p, |e| e.rule == Rule::WslTCall && matches!(e.form, Form::Call(Callee::Declared(_), _)));
        let Form::Call(callee, _) = &mut p.exprs[i].form else { unreachable!() };
        *callee = Callee::Declared(pixels);
    });
    refuted(|p| {
        let i = expr(p, |e| e.rule == Rule::WslTDotSetter);
        let Form::Dot(_, _, access) = &mut p.exprs[i].form else { unreachable!() };
        let Access::Setter(set, get) = *access else { panic!("a setter") };
        *access = Access::Setter(get, set);
    });
    refuted(|p| {
        let i = expr(p, |e| e.rule == Rule::WslTDotAddressTaker);
        let Form::Dot(_, _, access) = &mut p.exprs[i].form else { unreachable!() };
        let Access::AddressTaker(Callee::Generated(Generated::FieldAddress(s, f, _))) = *access else { panic!("a field") };
        *access = Access::AddressTaker(Callee::Generated(Generated::FieldAddress(s, f, AddressSpace::Constant)));
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::Dot(_, _, Access::AddressTaker(Callee::Generated(Generated::FieldAddress(_, 0, _))))));
        let Form::Dot(_, _, access) = &mut p.exprs[i].form else { unreachable!() };
        let Access::AddressTaker(Callee::Generated(Generated::FieldAddress(s, _, a))) = *access else { unreachable!() };
        *access = Access::AddressTaker(Callee::Generated(Generated::FieldAddress(s, 1, a)));
    });
    refuted(|p| {
        // The name of another field.
        let i = expr(p, |e| e.rule == Rule::WslTDotAddressTaker);
        let j = expr(p, |e| e.rule == Rule::WslTDotSetter);
        let Form::Dot(_, other, _) = p.exprs[j].form else { unreachable!() };
        let Form::Dot(_, name, _) = &mut p.exprs[i].form else { unreachable!() };
        *name = other;
    });
    refuted(|p| {
        // One argument less.
        let i = expr(p, |e| matches!(&e.form, Form::Call(_, range) if range.len() > 1));
        let Form::Call(_, range) = &mut p.exprs[i].form else { unreachable!() };
        range.end -= 1;
    });
    refuted(|p| {
        let i = expr(p, |e| matches!(&e.form, Form::Call(..)));
        let Form::Call(callee, _) = &mut p.exprs[i].form else { unreachable!() };
        *callee = Callee::Declared(FunctionId(9999));
    });
}

/// If the field of a structure becomes a sampler, the structure has no default value, and nothing
/// assigns it. The environment says so too, or is refuted for that.
#[test]
fn structures_that_become_opaque() {
    let with = |body: &str| {
        format!(
            "struct R {{ uint t; int x; }}
            R operator++(R r) {{ return r; }}
            R operator+(R r, int x) {{ return r; }}
            int operator.foo(R r) {{ return r.x; }}
            R operator.foo=(R r, int v) {{ return r; }}
            int operator[](R r, uint i) {{ return r.x; }}
            R operator[]=(R r, uint i, int v) {{ return r; }}
            void f(R r, R s) {{ {body} }}"
        )
    };
    let opaque = |body: &str, told: bool| {
        let mut p = typed(&with(body));
        assert_eq!(recheck(&p), Ok(()), "{body}");
        p.env.structs[0].fields[0].ty = TypeId::SAMPLER;
        if told {
            p.env.types.opaque_structs.insert(StructId(0));
        }
        recheck(&p).err().map(|refutation| refutation.rule)
    };
    assert_eq!(opaque("r.x++;", true), None);
    assert_eq!(opaque("r.x++;", false), Some(Some(Rule::WslLibDefault)));
    for (body, rule) in [
        ("R();", Rule::WslTCall),
        ("r = s;", Rule::WslTAssignment),
        ("r++;", Rule::WslTPostfixIncr),
        ("++r;", Rule::WslTPrefixIncr),
        ("r += 1;", Rule::WslTOperatorPlusEqual),
        ("r.foo = 1;", Rule::WslTDotSetter),
        ("r[0] = 1;", Rule::WslTIndexSetter),
    ] {
        assert_eq!(opaque(body, true), Some(Some(rule)), "{body}");
    }
}

#[test]
fn behaviours_and_statements() {
    for b in Behaviour::ALL {
        refuted(|p| {
            let i = stmt(p, |s| matches!(s, StmtForm::If(..)));
            let has = p.stmts[i].behaviours.has(b);
            p.stmts[i].behaviours = if has { p.stmts[i].behaviours.without(b) } else { p.stmts[i].behaviours.with(b) };
        });
    }
    // Behaviours of a block without its rest, another rule for a block, a loop that never ends, and
    // a switch that ends.
    refuted(|p| {
        let i = function(p, "body");
        let block = p.body(i).block.0 as usize;
        p.stmts[block].behaviours = Behaviours::of(Behaviour::Nothing);
    });
    refuted(|p| {
        let i = stmt(p, |s| matches!(s, StmtForm::Block(range) if range.is_empty()));
        p.stmts[i].rule = Rule::WslTTrivialBlock;
    });
    refuted(|p| {
        let i = stmt(p, |s| matches!(s, StmtForm::DoWhile(..)));
        let rule = p.stmts[i].rule;
        p.stmts[i].rule = if rule == Rule::WslTDoWhileBreak { Rule::WslTDoWhileNoBreak } else { Rule::WslTDoWhileBreak };
    });
    refuted(|p| {
        let i = stmt(p, |s| matches!(s, StmtForm::For(..)));
        p.stmts[i].behaviours = Behaviours::of(Behaviour::Return);
    });
    refuted(|p| {
        let i = p.stmts.iter().position(|s| s.rule == Rule::WslTSwitchNoBreak).expect("there is one");
        p.stmts[i].rule = Rule::WslTSwitchBreak;
    });
    // A missing case, a second default, and a value that stands twice.
    for change in 0..4 {
        refuted(|p| {
            let i = stmt(p, |s| matches!(s, StmtForm::Switch(..)));
            let StmtForm::Switch(_, cases) = &mut p.stmts[i].form else { unreachable!() };
            match change {
                0 => drop(cases.remove(0)),
                1 => cases[0].value = None,
                2 => cases[1].value = cases[0].value,
                _ => cases[0].value = Some(Constant::Int(0)),
            }
        });
    }
    // A statement after one that never reaches its end.
    refuted(|p| {
        let i = p.stmts.iter().position(|s| s.rule == Rule::WslTBlock).expect("there is one");
        let StmtForm::Block(range) = p.stmts[i].form.clone() else { panic!("a block") };
        p.blocks[range.start as usize..range.end as usize].reverse();
    });
    // A return of nothing, and a return of another type.
    refuted(|p| {
        let i = stmt(p, |s| matches!(s, StmtForm::Return(Some(_))));
        p.stmts[i].form = StmtForm::Return(None);
    });
    refuted(|p| {
        let i = function(p, "body").0 as usize;
        p.env.functions[i].result = TypeId::UINT;
    });
}

#[test]
fn discards() {
    refuted(|p| {
        let quits = function(p, "quits");
        let i = expr(p, |e| matches!(e.form, Form::Call(Callee::Declared(f), _) if f == quits));
        assert!(p.exprs[i].discards);
        p.exprs[i].discards = false;
    });
    refuted(|p| {
        let pixels = function(p, "pixels");
        let block = p.body(pixels).block.0 as usize;
        p.stmts[block].behaviours = p.stmts[block].behaviours.without(Behaviour::Discard);
    });
    // The fragment stage becomes a vertex stage that may discard.
    refuted(|p| {
        let pixels = function(p, "pixels");
        p.env.functions[pixels.0 as usize].kind = FunctionKind::Vertex;
        let entry = p.entry_points.iter_mut().find(|e| e.function == pixels).expect("it is one");
        entry.stage = Stage::Vertex;
    });
}

#[test]
fn stores_and_names() {
    // A variable with another store of the same type, a store with two variables, another name, and
    // a parameter that does not exist.
    refuted(|p| {
        let i = function(p, "body");
        let stores: Vec<u32> = p.body(i).stores.clone().filter(|s| p.stores[*s as usize].ty == TypeId::INT).collect();
        let body = p.body(i).exprs.clone();
        let (first, later) = (StoreId(stores[0]), StoreId(stores[1]));
        let at = body.clone().find(|e| p.exprs[*e as usize].form == Form::Variable(first)).expect("it is used");
        // The last variable of the function is declared after the first use of the first.
        let last = StoreId(*stores.last().expect("there are some"));
        assert!(last != later);
        p.exprs[at as usize].form = Form::Variable(last);
    });
    refuted(|p| {
        let declarations: Vec<usize> = (0..p.stmts.len()).filter(|i| matches!(p.stmts[*i].form, StmtForm::Declaration(..))).collect();
        let StmtForm::Declaration(name, _, _) = p.stmts[declarations[2]].form else { unreachable!() };
        let StmtForm::Declaration(other, _, _) = &mut p.stmts[declarations[1]].form else { unreachable!() };
        *other = name;
    });
    refuted(|p| {
        let i = function(p, "body").0 as usize;
        p.bodies[i].parameters.pop();
    });
    refuted(|p| {
        let i = function(p, "body").0 as usize;
        p.bodies[i].parameters.swap(0, 1);
    });
    refuted(|p| {
        let i = function(p, "body").0 as usize;
        let name = p.env.functions[i].parameters[0].name;
        p.env.functions[i].parameters[1].name = name;
    });
    refuted(|p| {
        let store = p.stores.iter().position(|s| s.space == AddressSpace::Threadgroup).expect("there is one");
        p.stores[store].space = AddressSpace::Thread;
    });
    // A postfix operator keeps the old value in the store of a variable.
    refuted(|p| {
        let i = expr(p, |e| e.rule == Rule::WslTPostfixIncr);
        let function = function(p, "body");
        let first = p.body(function).parameters[0];
        let Form::Step(_, _, _, _, store) = &mut p.exprs[i].form else { unreachable!() };
        *store = Some(first);
    });
    // An expression that is a part of two others.
    refuted(|p| {
        let i = expr(p, |e| matches!(e.form, Form::Or(..)));
        let Form::Or(a, _) = p.exprs[i].form else { unreachable!() };
        p.exprs[i].form = Form::Or(a, a);
    });
}

#[test]
fn the_whole() {
    refuted(|p| p.order.reverse());
    refuted(|p| p.order.truncate(3));
    refuted(|p| p.order[0] = p.order[1]);
    refuted(|p| p.barriers.clear());
    refuted(|p| p.barriers.push(ExprId(0)));
    refuted(|p| p.bodies.truncate(2));
    refuted(|p| p.exprs.truncate(9));
    refuted(|p| p.bodies[3].stmts.end += 1);
    refuted(|p| p.entry_points.truncate(1));
    refuted(|p| p.entry_points.swap(0, 1));
    // A recursive call.
    refuted(|p| {
        let quits = function(p, "quits");
        let pixels = function(p, "pixels");
        let body = p.body(pixels).clone();
        let i = body
            .exprs
            .clone()
            .find(|e| matches!(p.exprs[*e as usize].form, Form::Call(Callee::Declared(f), _) if f == quits))
            .expect("it calls it");
        let Form::Call(callee, _) = &mut p.exprs[i as usize].form else { unreachable!() };
        *callee = Callee::Declared(pixels);
    });
    // Types of the environment.
    refuted(|p| {
        let s = p.env.structs.iter().position(|s| p.env.names.name(s.name) == "S").expect("it is there");
        p.env.structs[s].fields[0].ty = p.env.types.find(Type::Pointer(AddressSpace::Thread, TypeId::INT)).expect("it is used");
    });
    refuted(|p| {
        let (a, b) = (function(p, "over").0 as usize, function(p, "over").0 as usize + 1);
        p.env.functions[b].parameters[0].ty = p.env.functions[a].parameters[0].ty;
    });
    refuted(|p| p.env.enums[0].elements[1].1 = 0);
    refuted(|p| p.env.enums[0].elements[0].1 = 9);
    refuted(|p| {
        let twice = function(p, "operator.twice=").0 as usize;
        p.env.functions[twice].result = TypeId::INT;
    });
}

#[test]
fn entry_points() {
    let entry = |p: &Program, name: &str| p.entry_points.iter().position(|e| e.function == function(p, name)).expect("it is one");
    refuted(|p| {
        let i = entry(p, "work");
        p.entry_points[i].stage = Stage::Compute([8, 2, 2]);
    });
    refuted(|p| {
        let i = entry(p, "work");
        p.entry_points[i].inputs[0].ty = TypeId::INT;
    });
    refuted(|p| {
        let i = entry(p, "points");
        drop(p.entry_points[i].inputs.pop());
    });
    refuted(|p| {
        let i = entry(p, "points");
        p.entry_points[i].outputs.swap(0, 1);
    });
    refuted(|p| {
        let i = entry(p, "points");
        p.entry_points[i].inputs[0].semantic = None;
    });
    refuted(|p| {
        let i = entry(p, "pixels");
        p.entry_points[i].inputs[1].qualifiers.clear();
    });
    // A built-in variable with another type, in all places that have its type.
    refuted(|p| {
        let (i, f) = (entry(p, "work"), function(p, "work").0 as usize);
        p.entry_points[i].inputs[0].ty = TypeId::FLOAT;
        p.env.functions[f].parameters[0].ty = TypeId::FLOAT;
    });
    // A semantic that the stage does not have, in all places that have it.
    refuted(|p| {
        let (i, f) = (entry(p, "work"), function(p, "work").0 as usize);
        let span = p.env.functions[f].span;
        p.entry_points[i].inputs[0].semantic = Some((Semantic::Specialized, span));
        p.env.functions[f].parameters[0].semantic = Some((Semantic::Specialized, span));
    });
    // A structure with a semantic of its own, a semantic on nothing, and two results with the
    // same semantic.
    refuted(|p| {
        let points = function(p, "points").0 as usize;
        let semantic = p.env.structs.iter().flat_map(|s| &s.fields).find_map(|f| f.semantic);
        p.env.functions[points].parameters[0].semantic = semantic;
    });
    refuted(|p| {
        let work = function(p, "work").0 as usize;
        p.env.functions[work].semantic = p.env.functions[work].parameters[0].semantic;
    });
    refuted(|p| {
        let (i, f) = (entry(p, "points"), function(p, "points").0 as usize);
        let Type::Struct(out) = p.env.types.get(p.env.functions[f].result) else { unreachable!("it is one") };
        let fields = &mut p.env.structs[out.0 as usize].fields;
        (fields[1].ty, fields[1].semantic) = (fields[0].ty, fields[0].semantic);
        (p.entry_points[i].outputs[1].ty, p.entry_points[i].outputs[1].semantic) = (fields[0].ty, fields[0].semantic);
    });
    // The compute stage becomes a vertex stage that uses threadgroup memory.
    refuted(|p| {
        let f = function(p, "work");
        p.env.functions[f.0 as usize].kind = FunctionKind::Vertex;
        p.env.functions[f.0 as usize].parameters.clear();
        let i = entry(p, "work");
        p.entry_points[i].stage = Stage::Vertex;
        p.entry_points[i].inputs.clear();
    });
}

#[test]
fn every_node_of_generated_programs() {
    let programs: u64 = std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse::<u64>().ok()).map_or(4, |n| n / 500 + 4);
    let mut planted = 0u64;
    for seed in 1000..1000 + programs {
        let text = generated(seed);
        let good = typed(&text);
        recheck(&good).unwrap_or_else(|r| panic!("{r}"));
        let mut p = good.clone();
        let mut see = |p: &Program, what: &str, i: usize| {
            planted += 1;
            assert!(recheck(p).is_err(), "seed {seed}: {what} of {i} is not seen:\n{text}");
        };
        for i in 0..good.exprs.len() {
            let node = &good.exprs[i];
            let ty = node.ty.right();
            for other in [ValueType::Right(TypeId::VOID), ValueType::Abstract(ty), ValueType::Left(ty, AddressSpace::Device)] {
                if other != node.ty {
                    p.exprs[i].ty = other;
                    see(&p, "the type", i);
                }
            }
            p.exprs[i] = node.clone();
            p.exprs[i].discards = !node.discards;
            see(&p, "whether it discards", i);
            p.exprs[i] = node.clone();
            p.exprs[i].rule = if node.rule == Rule::WslTParens { Rule::WslTComma } else { Rule::WslTParens };
            see(&p, "the rule", i);
            p.exprs[i] = node.clone();
        }
        for i in 0..good.stmts.len() {
            let node = &good.stmts[i];
            for b in Behaviour::ALL {
                p.stmts[i].behaviours = if node.behaviours.has(b) { node.behaviours.without(b) } else { node.behaviours.with(b) };
                see(&p, "a behaviour", i);
            }
            p.stmts[i] = node.clone();
            p.stmts[i].rule = if node.rule == Rule::WslTExpr { Rule::WslTBreak } else { Rule::WslTExpr };
            see(&p, "the rule of the statement", i);
            p.stmts[i] = node.clone();
            if let StmtForm::Block(range) = &node.form
                && !range.is_empty()
            {
                p.stmts[i].form = StmtForm::Block(range.start..range.end - 1);
                see(&p, "a statement left out", i);
                p.stmts[i] = node.clone();
            }
            if let StmtForm::Expr(e) = &node.form {
                p.stmts[i].form = StmtForm::Expr(ExprId(if e.0 == 0 { 1 } else { 0 }));
                see(&p, "the expression", i);
                p.stmts[i] = node.clone();
            }
        }
        for i in 0..good.bodies.len() {
            p.bodies[i].block = StmtId(if good.bodies[i].block.0 == 0 { 1 } else { 0 });
            see(&p, "the block of a body", i);
            p.bodies[i] = good.bodies[i].clone();
        }
        assert!(recheck(&p).is_ok());
    }
    println!("{planted} corruptions of {programs} programs");
}
