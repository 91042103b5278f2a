//! Rules of the uniformity analysis: seed 001.

macro_rules! uniformity_rules {
    ($then:ident $($rows:tt)*) => {
        $then! { $($rows)*
            UniformityFunction "uniformity/function" Uniformity "001 Function validation; U-6, U-12" "uniformity::seed::function" "must ⇒* cannot does not hold gives f : CF_mustBeUniform if must ⇒* CF, mustBeUniform_i if must ⇒* i, canBeUniform_return unless a Return C has C ⇒* cannot, conditionallyUniform_i if one has C ⇒* i, and of its discards likewise";
            UniformityEntryPoint "uniformity/entry-point" Uniformity "001 Top-level validation; U-8" "uniformity::seed::entry_point" "an argument of an entry point that the table does not call uniform gives i ⇒ cannot for its parameter i";
            UniformityIf "uniformity/if" Uniformity "001 Validating a statement" "uniformity::seed::statement::if_" "G, CF ⊢ e : C and CF' ⇒ {CF, C} and G, CF' ⊢ s1 : B1, C1 and G, CF' ⊢ s2 : B2, C2 and C' ⇒ {C1, C2} give G, CF ⊢ if (e) s1 else s2 : B1 ∪ B2, C'";
            UniformityFor "uniformity/for" Uniformity "001 Validating a statement" "uniformity::seed::statement::for_" "G, CF' ⊢ e1 : C1 and G, CF' ⊢ e2 : C2 and G, CF' ⊢ s : B, C3 and CF' ⇒ {CF, C1, C3} give G, CF ⊢ for (; e1; e2) s : B - {Break, Continue} ∪ {Nothing, InfiniteLoop}, CF'";
            UniformityDoWhile "uniformity/do-while" Uniformity "001 Validating a statement; U-6" "uniformity::seed::statement::do_while" "G, CF' ⊢ s : B, C3 and G, CF' ⊢ e : C1 and CF' ⇒ {CF, C1, C3} give G, CF ⊢ do s while (e); : B - {Break, Continue} ∪ {Nothing, InfiniteLoop}, CF'";
            UniformitySwitch "uniformity/switch" Uniformity "001 Validating a statement; U-6" "uniformity::seed::statement::switch" "G, CF ⊢ e : C and CF' ⇒ {CF, C} and each case si, begun from CF', : Bi, Ci and C' ⇒ {Ci} give G, CF ⊢ switch (e) {…} : the union of Bi - {Fallthrough}, with Nothing for Break, C'";
            UniformityCase "uniformity/case" Uniformity "001 Validating a statement; U-6" "uniformity::seed::statement::case" "the case before it has Fallthrough and C and CFi ⇒ {CF', C} give that a case of a switch from CF' begins in CFi, which is CF' otherwise";
            UniformitySequence "uniformity/sequence" Uniformity "001 Validating a statement" "uniformity::seed::statement::sequence" "G, CF ⊢ s0 : B0, C0 and G, C0 ⊢ {s1 … sn} : B, C give G, CF ⊢ {s0 s1 … sn} : B ∪ (B0 - {Nothing}), C";
            UniformityDeclaration "uniformity/declaration" Uniformity "001 Validating a statement; U-7" "uniformity::seed::statement::declaration" "x_id new and G' = G[x ↦ LVal(τ, x_id)] and G', CF ⊢ e : C1 and x_id ⇒ {CF, C1} and G', CF ⊢ {s1 … sn} : B, C2 give G, CF ⊢ {τ x = e; s1 … sn} : B, C2";
            UniformityTrivialBlock "uniformity/trivial-block" Uniformity "001 Validating a statement" "uniformity::seed::statement::trivial_block" "G, CF ⊢ s : B, C gives G, CF ⊢ {s} : B, C";
            UniformityEmptyBlock "uniformity/empty-block" Uniformity "001 Validating a statement" "uniformity::seed::statement::empty_block" "G, CF ⊢ {} : {Nothing}, CF";
            UniformityReturn "uniformity/return" Uniformity "001 Validating a statement; U-1" "uniformity::seed::statement::return_" "G, CF ⊢ e : C and result ⇒ {CF, C} give G, CF ⊢ return e; : {Return(result)}, CF";
            UniformityReturnVoid "uniformity/return-void" Uniformity "001 Validating a statement; U-6" "uniformity::seed::statement::return_void" "G, CF ⊢ return; : {Return}, CF";
            UniformityEffectfulExpr "uniformity/effectful-expr" Uniformity "001 Validating a statement; U-1" "uniformity::seed::statement::effectful_expr" "G, CF ⊢ e : C gives G, CF ⊢ e; : {Nothing}, CF";
            UniformityBreak "uniformity/break" Uniformity "001 Validating a statement" "uniformity::seed::statement::break_" "G, CF ⊢ break; : {Break}, CF";
            UniformityContinue "uniformity/continue" Uniformity "001 Validating a statement; U-4" "uniformity::seed::statement::continue_" "G, CF ⊢ continue; : {Continue}, CF";
            UniformityFallthrough "uniformity/fallthrough" Uniformity "001 Validating a statement; U-6" "uniformity::seed::statement::fallthrough" "G, CF ⊢ fallthrough; : {Fallthrough}, CF";
            UniformityDiscard "uniformity/discard" Uniformity "001 Validating a statement; U-6" "uniformity::seed::statement::discard" "G, CF ⊢ discard; : {Discard(CF)}, CF";
            UniformitySingleton "uniformity/singleton" Uniformity "001 Validating a statement; U-2, U-5" "uniformity::seed::statement::singleton" "G, CF ⊢ s : {b}, C gives G, CF ⊢ s : {b}, CF, where C is not CF";
            UniformityLiteral "uniformity/literal" Uniformity "001 Expressions" "uniformity::seed::expression::literal" "G, CF ⊢ literal : CF";
            UniformityParens "uniformity/parens" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::parens" "G, CF ⊢ e : C gives G, CF ⊢ (e) : C";
            UniformityComma "uniformity/comma" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::comma" "G, CF ⊢ e1 : C1 and G, CF ⊢ e2 : C2 give G, CF ⊢ e1, e2 : C2";
            UniformityOr "uniformity/or" Uniformity "001 Expressions" "uniformity::seed::expression::or" "G, CF ⊢ e1 : C1 and CF' ⇒ {CF, C1} and G, CF' ⊢ e2 : C2 give G, CF ⊢ e1 || e2 : C2";
            UniformityAnd "uniformity/and" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::and" "G, CF ⊢ e1 : C1 and CF' ⇒ {CF, C1} and G, CF' ⊢ e2 : C2 give G, CF ⊢ e1 && e2 : C2";
            UniformityTernary "uniformity/ternary" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::ternary" "G, CF ⊢ e1 : C1 and CF' ⇒ {CF, C1} and G, CF' ⊢ e2 : C2 and G, CF' ⊢ e3 : C3 and result ⇒ {C2, C3} give G, CF ⊢ e1 ? e2 : e3 : result";
            UniformityAssign "uniformity/assign" Uniformity "001 Expressions" "uniformity::seed::expression::assign" "G, CF ⊢ e1 : LVal(τ), x_id and G, CF ⊢ e2 : C2 and x_id ⇒ C2 give G, CF ⊢ e1 = e2 : C2";
            UniformityCompoundAssign "uniformity/compound-assign" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::compound_assign" "G, CF ⊢ e1 : LVal(τ), x_id and G, CF ⊢ operator+(e1, e2) : C and x_id ⇒ C give G, CF ⊢ e1 += e2 : C";
            UniformityStep "uniformity/step" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::step" "G, CF ⊢ e : LVal(τ), x_id and G, CF ⊢ e : C and G, CF ⊢ operator++(e) : C' and x_id ⇒ C' give G, CF ⊢ ++e : C' and G, CF ⊢ e++ : C";
            UniformityAddressOf "uniformity/address-of" Uniformity "001 Expressions; U-10" "uniformity::seed::expression::address_of" "G, CF ⊢ e : LVal(τ), x_id at the address C and x_id ⇒ cannot and result ⇒ {CF, C} give G, CF ⊢ &e : result";
            UniformityMakeReference "uniformity/make-reference" Uniformity "001 Expressions; U-9, U-10" "uniformity::seed::expression::make_reference" "G, CF ⊢ e : LVal(τ), x_id at the address C and x_id ⇒ cannot and result ⇒ {CF, C} give G, CF ⊢ @e : result";
            UniformityGetter "uniformity/getter" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::getter" "G, CF ⊢ operator.f(e) : C gives G, CF ⊢ e.f : C, and operator[] likewise";
            UniformityLength "uniformity/length" Uniformity "001 Expressions; U-6" "uniformity::seed::expression::length" "G, CF ⊢ e.length : CF of an array in a variable, and C where G, CF ⊢ e : C otherwise";
            UniformityLeftVariable "uniformity/left-variable" Uniformity "001 Expressions" "uniformity::seed::left::left_variable" "x ↦ LVal(τ, x_id) in G gives G, CF ⊢ x : LVal(τ), x_id";
            UniformityLeftThreadgroup "uniformity/left-threadgroup" Uniformity "001 Expressions; U-9" "uniformity::seed::left::left_threadgroup" "x in threadgroup memory gives G, CF ⊢ x : LVal(τ), cannot";
            UniformityLeftPart "uniformity/left-part" Uniformity "001 Expressions" "uniformity::seed::left::left_part" "G, CF ⊢ e1 : LVal(τ), x_id and G, CF ⊢ e2 : C2 give G, CF ⊢ e1[e2] : LVal(τ'), x_id at the address C2, and e1.f likewise";
            UniformityLeftAddressTaker "uniformity/left-address-taker" Uniformity "001 Expressions; U-6" "uniformity::seed::left::left_address_taker" "G, CF ⊢ operator&.f(&e) : C, declared, gives G, CF ⊢ e.f : LVal(τ), cannot at the address C, and operator&[] likewise";
            UniformityLeftElement "uniformity/left-element" Uniformity "001 Expressions; U-9" "uniformity::seed::left::left_element" "G, CF ⊢ e1 : Ref(τ, a), C1 and G, CF ⊢ e2 : C2 give G, CF ⊢ e1[e2] : LVal(τ, a) at the address {C1, C2}, and cannot unless a is constant";
            UniformityDereference "uniformity/dereference" Uniformity "001 Expressions" "uniformity::seed::left::dereference" "G, CF ⊢ e : Ptr(τ, a), C gives G, CF ⊢ *e : LVal(τ, a), cannot at the address C";
            UniformityLeftSetter "uniformity/left-setter" Uniformity "001 Expressions; U-6" "uniformity::seed::left::left_setter" "G, CF ⊢ e : ALVal(τ), x_id gives that assigning v to e.f assigns operator.f=(e, v) to x_id, and operator[]= likewise";
            UniformityVariable "uniformity/variable" Uniformity "001 Expressions" "uniformity::seed::left::variable" "G, CF ⊢ e : LVal(τ), x_id at the address C and result ⇒ {x_id, C, CF} give G, CF ⊢ e : result";
            UniformityLoad "uniformity/load" Uniformity "001 Expressions; U-9" "uniformity::seed::left::load" "a left-value in no variable, at the address C, gives result ⇒ {C, CF} of one in constant memory, and result ⇒ cannot of another one";
            UniformityCall "uniformity/call" Uniformity "001 Expressions; U-6" "uniformity::seed::call::call" "G, CF ⊢ ei : Ci and f's metadata in G give must ⇒ CF if CF_mustBeUniform, must ⇒ Ci if mustBeUniform_i, and G, CF ⊢ f(e1, …) : result ⇒ {CF, Ci if conditionallyUniform_i} if canBeUniform_return, else cannot; behind it is CF' if f may discard";
            UniformityCallLibrary "uniformity/call-library" Uniformity "001 Expressions; U-6" "uniformity::seed::call::call_library" "G, CF ⊢ ei : Ci gives must ⇒ CF if f is a barrier or derivative, and G, CF ⊢ f(e1, …) : result ⇒ {CF, Ci}, or cannot by the table";
            UniformityCallGenerated "uniformity/call-generated" Uniformity "001 Expressions; U-6" "uniformity::seed::call::call_generated" "G, CF ⊢ ei : Ci and result ⇒ {CF, Ci} give G, CF ⊢ operator.f(e1, …) : result, f a field of a structure, and [] of an array likewise";
            UniformityCallAddressTaker "uniformity/call-address-taker" Uniformity "001 Expressions; U-6" "uniformity::seed::call::call_address_taker" "an accessor generated from operator&.f calls it, and gives cannot";
        }
    };
}
