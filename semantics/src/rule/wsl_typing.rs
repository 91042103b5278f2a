//! Rules of WSL's validation: seed 004 "Validation", "Entry Points", "Built-in Variables".

macro_rules! wsl_typing_rules {
    ($then:ident $next:ident $last:ident $($rows:tt)*) => {
        $then! { $next $last $($rows)*
            // Building the global typing environment.
            WslEnvTypedefDuplicate "wsl/env-typedef-duplicate" Environment "004 Building the global typing environment 2.1" "wsl::validation::environment::declare::env_typedef_duplicate" "no other type has the name of a typedef";
            WslEnvTypedef "wsl/env-typedef" Environment "004 Building the global typing environment 2.2" "wsl::validation::environment::declare::env_typedef" "a typedef is a type, with its definition";
            WslEnvStructDuplicate "wsl/env-struct-duplicate" Environment "004 Building the global typing environment 3.1" "wsl::validation::environment::declare::env_struct_duplicate" "no other type has the name of a structure";
            WslEnvStructFields "wsl/env-struct-fields" Environment "004 Building the global typing environment 3.2" "wsl::validation::environment::declare::env_struct_fields" "no two fields of a structure have the same name";
            WslEnvStruct "wsl/env-struct" Environment "004 Building the global typing environment 3.3" "wsl::validation::environment::declare::env_struct" "a structure is a new type";
            WslEnvStructAddressTakers "wsl/env-struct-address-takers" Environment "004 Building the global typing environment 3.4; WSL-B16" "wsl::validation::environment::access::env_struct_address_takers" "each field f of type T of a structure S has operator&.f from S* to T* in each address space";
            WslEnvEnumDuplicate "wsl/env-enum-duplicate" Environment "004 Building the global typing environment 4.1" "wsl::validation::environment::declare::env_enum_duplicate" "no other type has the name of an enum";
            WslEnvEnumBase "wsl/env-enum-base" Environment "004 Building the global typing environment 4.2" "wsl::validation::environment::declare::env_enum_base" "an explicit base type of an enum is uint or int";
            WslEnvEnumDefaultBase "wsl/env-enum-default-base" Environment "004 Building the global typing environment 4.3" "wsl::validation::environment::declare::env_enum_default_base" "an enum without a base type has the base type int";
            WslEnvEnumValueExplicit "wsl/env-enum-value-explicit" Environment "004 Building the global typing environment 4.4.1" "wsl::validation::environment::declare::env_enum_value_explicit" "an element with an explicit value, an integer literal, has that value";
            WslEnvEnumValueFirst "wsl/env-enum-value-first" Environment "004 Building the global typing environment 4.4.2" "wsl::validation::environment::declare::env_enum_value_first" "the first element without a value has the value 0";
            WslEnvEnumValueNext "wsl/env-enum-value-next" Environment "004 Building the global typing environment 4.4.3" "wsl::validation::environment::declare::env_enum_value_next" "another element without a value has the preceding one's increased by one";
            WslEnvEnumZero "wsl/env-enum-zero" Environment "004 Building the global typing environment 4.5" "wsl::validation::environment::declare::env_enum_zero" "an element of an enum has the value 0";
            WslEnvEnumDistinct "wsl/env-enum-distinct" Environment "004 Building the global typing environment 4.6" "wsl::validation::environment::declare::env_enum_distinct" "no two elements of an enum have the same value";
            WslEnvEnumRange "wsl/env-enum-range" Environment "004 Building the global typing environment 4.7" "wsl::validation::environment::declare::env_enum_range" "the values of an enum are representable in its base type";
            WslEnvEnumElements "wsl/env-enum-elements" Environment "WSL-C23" "wsl::validation::environment::declare::env_enum_elements" "no two elements of an enum have the same name";
            WslEnvEnum "wsl/env-enum" Environment "004 Building the global typing environment 4.8" "wsl::validation::environment::declare::env_enum" "an enum is a new type, with the values of its elements";
            WslEnvGetter "wsl/env-getter" Environment "004 Building the global typing environment 5.1" "wsl::validation::environment::operators::env_getter" "operator.f has one parameter, no pointer, array reference or array";
            WslEnvSetter "wsl/env-setter" Environment "004 Building the global typing environment 5.2; WSL-C24" "wsl::validation::environment::operators::env_setter" "operator.f= has two parameters, the first no pointer, array reference or array, and returns the first's type";
            WslEnvAddressTaker "wsl/env-address-taker" Environment "004 Building the global typing environment 5.3" "wsl::validation::environment::operators::env_address_taker" "operator&.f has one parameter, a pointer, and returns a pointer in the same address space";
            WslEnvIndexGetter "wsl/env-index-getter" Environment "004 Building the global typing environment 5.4" "wsl::validation::environment::operators::env_index_getter" "operator[] has two parameters: no pointer, array reference or array, and uint or int";
            WslEnvIndexSetter "wsl/env-index-setter" Environment "004 Building the global typing environment 5.5; WSL-C24" "wsl::validation::environment::operators::env_index_setter" "operator[]= has three parameters: no pointer, array reference or array, uint or int, and a value; it returns the first's type";
            WslEnvIndexAddressTaker "wsl/env-index-address-taker" Environment "004 Building the global typing environment 5.6" "wsl::validation::environment::operators::env_index_address_taker" "operator&[] has two parameters, a pointer to no pointer, array reference or array, and uint or int, and returns a pointer in the same address space";
            WslEnvStep "wsl/env-step" Environment "004 Building the global typing environment 5.7" "wsl::validation::environment::operators::env_step" "operator++ and operator-- have one parameter, of the type that they return";
            WslEnvPlusMinus "wsl/env-plus-minus" Environment "004 Building the global typing environment 5.8" "wsl::validation::environment::operators::env_plus_minus" "operator+ and operator- have one or two parameters";
            WslEnvBinary "wsl/env-binary" Environment "004 Building the global typing environment 5.9" "wsl::validation::environment::operators::env_binary" "operator==, !=, <, >, <=, >=, *, /, %, &, |, ^, << and >> have two parameters";
            WslEnvComplement "wsl/env-complement" Environment "004 Building the global typing environment 5.10; WSL-A9" "wsl::validation::environment::operators::env_complement" "operator~ and operator! have one parameter";
            WslEnvFunction "wsl/env-function" Environment "004 Building the global typing environment 5.11, 5.12" "wsl::validation::environment::operators::env_function" "a function is among the declarations of its name; a cast's name is its type";

            // Other validation steps.
            WslVVoid "wsl/v-void" Environment "004 Void type" "wsl::validation::environment::resolve::v_void" "void is only what a function returns: not the type of a variable, field or parameter, nor a typedef's definition";
            WslVVoidComposite "wsl/v-void-composite" Environment "004 Void type" "wsl::validation::environment::resolve::v_void_composite" "no pointer, array reference or array is made of void";
            WslVTypeDefined "wsl/v-type-defined" Environment "004 Validating types" "wsl::validation::environment::resolve::v_type_defined" "every type name is defined, and has the arguments that its type takes";
            WslVDependsCycle "wsl/v-depends-cycle" Environment "004 Resolving typedefs; WSL-C14" "wsl::validation::environment::depends::v_depends_cycle" "no typedef or structure depends on itself";
            WslVTypedefResolved "wsl/v-typedef-resolved" Environment "004 Resolving typedefs" "wsl::validation::environment::resolve::v_typedef_resolved" "a typedef is its definition wherever it is mentioned";
            WslVFieldReference "wsl/v-field-reference" Environment "004 No pointers or array references in structs and arrays" "wsl::validation::environment::resolve::v_field_reference" "no field of a structure is a pointer or an array reference";
            WslVElementReference "wsl/v-element-reference" Environment "004 No pointers or array references in structs and arrays" "wsl::validation::environment::resolve::v_element_reference" "no element of an array is a pointer or an array reference";
            WslVArraySize "wsl/v-array-size" Environment "004 Typing of functions" "wsl::validation::environment::resolve::v_array_size" "the size of an array is a positive integer that fits in 32 bits";
            WslVElementOpaque "wsl/v-element-opaque" Environment "004 Samplers, Textures" "wsl::validation::environment::resolve::v_element_opaque" "no array contains a sampler or a texture";
            WslVGeneratedAccessors "wsl/v-generated-accessors" Environment "004 Checking the coherence of operators and functions; WSL-C13" "wsl::validation::environment::access::v_generated_accessors" "operator&.f from thread T1* to thread T2* gives operator.f from T1 to T2 and operator.f= from T1, T2 to T1";
            WslVGeneratedIndexers "wsl/v-generated-indexers" Environment "004 Checking the coherence of operators and functions; WSL-C7" "wsl::validation::environment::access::v_generated_indexers" "operator&[] from thread T1*, uint to thread T2* gives operator[] from T1, uint to T2 and operator[]= from T1, uint, T2 to T1";
            WslVSetterGetter "wsl/v-setter-getter" Environment "004 Checking the coherence of operators and functions" "wsl::validation::environment::coherence::v_setter_getter" "operator.f= of T1, T2 needs operator.f from T1 to T2";
            WslVIndexSetterGetter "wsl/v-index-setter-getter" Environment "004 Checking the coherence of operators and functions" "wsl::validation::environment::coherence::v_index_setter_getter" "operator[]= of T1, T2, T3 needs operator[] from T1, T2 to T3";
            WslVFunctionDuplicate "wsl/v-function-duplicate" Environment "004 Checking the coherence of operators and functions" "wsl::validation::environment::coherence::v_function_duplicate" "no two functions have the same name and the same types of parameters, generated ones and the library's included";
            WslVRecursion "wsl/v-recursion" Environment "004 Verifying the absence of recursion; WSL-C6" "wsl::validation::typing::calls::v_recursion" "no function may call itself, through accessors, operators and casts neither";

            // Typing of functions.
            WslVFunctionParameters "wsl/v-function-parameters" StatementTyping "004 Typing of functions 1" "wsl::validation::typing::function::v_function_parameters" "the parameters of a function have distinct names";
            WslVFunctionBound "wsl/v-function-bound" StatementTyping "004 Typing of functions 2, 3; WSL-C2" "wsl::validation::typing::function::v_function_bound" "a parameter of type T is a left-value of type T in thread";
            WslVFunctionBody "wsl/v-function-body" StatementTyping "004 Typing of functions 4, 5" "wsl::validation::typing::function::v_function_body" "the body is well-typed as a block, and its behaviours include neither Break nor Continue nor Fallthrough";
            WslVFunctionReturn "wsl/v-function-return" StatementTyping "004 Typing of functions 6" "wsl::validation::typing::function::v_function_return" "a function returns values of its own return type only";
            WslVFunctionNothing "wsl/v-function-nothing" StatementTyping "004 Typing of functions 7" "wsl::validation::typing::function::v_function_nothing" "the end of a function that returns a value is never reached";
            WslVFunctionDiscard "wsl/v-function-discard" StatementTyping "004 Typing of functions 8" "wsl::validation::typing::calls::v_function_discard" "the behaviours of a vertex or compute entry point do not include Discard";
            WslVReturnOpaque "wsl/v-return-opaque" StatementTyping "004 Samplers, Textures" "wsl::validation::typing::function::v_return_opaque" "a function that returns a sampler or a texture has one return";

            // Typing statements.
            WslTIf "wsl/t-if" StatementTyping "004 Typing statements; WSL-C15" "wsl::validation::typing::statement::t_if" "Γ ⊢ e : bool, Γ ⊢ s : B and Γ ⊢ s' : B', none of them returning a pointer or an array reference, give Γ ⊢ if (e) s else s' : B ∪ B'";
            WslTDoWhileBreak "wsl/t-do-while-break" StatementTyping "004 Typing statements; WSL-C1" "wsl::validation::typing::statement::t_do_while_break" "Γ ⊢ e : bool and Γ ⊢ s : B with Break in B give Γ ⊢ do s while (e); : B - {Break, Continue} ∪ {Nothing}";
            WslTDoWhileNoBreak "wsl/t-do-while-no-break" StatementTyping "004 Typing statements; WSL-C1" "wsl::validation::typing::statement::t_do_while_no_break" "Γ ⊢ e : bool and Γ ⊢ s : B without Break in B give Γ ⊢ do s while (e); : B - {Continue} ∪ {Nothing}";
            WslTForBreak "wsl/t-for-break" StatementTyping "004 Typing statements; WSL-C1" "wsl::validation::typing::statement::t_for_break" "Γ ⊢ e : bool, Γ ⊢ e' : τ and Γ ⊢ s : B with Break in B give Γ ⊢ for (; e; e') s : B - {Break, Continue} ∪ {Nothing}";
            WslTForNoBreak "wsl/t-for-no-break" StatementTyping "004 Typing statements; WSL-C1" "wsl::validation::typing::statement::t_for_no_break" "Γ ⊢ e : bool, Γ ⊢ e' : τ and Γ ⊢ s : B without Break in B give Γ ⊢ for (; e; e') s : B - {Continue} ∪ {Nothing}";
            WslTSwitchBreak "wsl/t-switch-break" StatementTyping "004 Typing statements" "wsl::validation::typing::switch::t_switch_break" "a switch whose cases' behaviours B include Break: B - {Break, Fallthrough} ∪ {Nothing}";
            WslTSwitchNoBreak "wsl/t-switch-no-break" StatementTyping "004 Typing statements" "wsl::validation::typing::switch::t_switch_no_break" "a switch whose cases' behaviours B do not include Break: B - {Fallthrough}";
            WslTCase "wsl/t-case" StatementTyping "004 Typing statements; WSL-C10, WSL-C11" "wsl::validation::typing::switch::t_case" "a case has a value of the switch's type, integer or enum, that no other case has, and a body that is well-typed as a block and does not reach its end";
            WslTDefault "wsl/t-default" StatementTyping "004 Typing statements; WSL-C11" "wsl::validation::typing::switch::t_default" "a switch has one default if some value is in no case, and none otherwise; its body is as a case's";
            WslTSwitchBlock "wsl/t-switch-block" StatementTyping "004 Typing statements" "wsl::validation::typing::switch::t_switch_block" "the bodies' behaviours together, the last one's without Fallthrough, none reaching its end or returning a pointer or an array reference";
            WslTBreak "wsl/t-break" StatementTyping "004 Typing statements" "wsl::validation::typing::statement::t_break" "Γ ⊢ break; : {Break}";
            WslTContinue "wsl/t-continue" StatementTyping "004 Typing statements" "wsl::validation::typing::statement::t_continue" "Γ ⊢ continue; : {Continue}";
            WslTFallthrough "wsl/t-fallthrough" StatementTyping "004 Typing statements" "wsl::validation::typing::statement::t_fallthrough" "Γ ⊢ fallthrough; : {Fallthrough}";
            WslTDiscard "wsl/t-discard" StatementTyping "004 Typing statements; WSL-C5" "wsl::validation::typing::statement::t_discard" "Γ ⊢ discard; : {Discard}";
            WslTReturnVoid "wsl/t-return-void" StatementTyping "004 Typing statements" "wsl::validation::typing::statement::t_return_void" "Γ ⊢ return; : {Return void}";
            WslTReturn "wsl/t-return" StatementTyping "004 Typing statements; WSL-C5, WSL-C16" "wsl::validation::typing::statement::t_return" "Γ ⊢ e : τ gives Γ ⊢ return e; : {Return τ}";
            WslTEmptyBlock "wsl/t-empty-block" StatementTyping "004 Typing statements" "wsl::validation::typing::block::t_empty_block" "Γ ⊢ {} : {Nothing}";
            WslTVariableDecl "wsl/t-variable-decl" StatementTyping "004 Typing statements" "wsl::validation::typing::block::t_variable_decl" "Γ[x ↦ LVal(τ, a)] ⊢ {s…} : B, τ with a default value, a thread or threadgroup and x declared once in the block give Γ ⊢ {a τ x; s…} : B";
            WslTVariableDeclInit "wsl/t-variable-decl-init" StatementTyping "004 Typing statements; WSL-C4" "wsl::validation::typing::block::t_variable_decl_init" "Γ ⊢ e : τ and the premises of t-variable-decl give Γ ⊢ {a τ x = e; s…} : B";
            WslTTrivialBlock "wsl/t-trivial-block" StatementTyping "004 Typing statements" "wsl::validation::typing::block::t_trivial_block" "Γ ⊢ s : B gives Γ ⊢ {s} : B";
            WslTBlock "wsl/t-block" StatementTyping "004 Typing statements" "wsl::validation::typing::block::t_block" "Γ ⊢ s : B with Nothing and without Fallthrough in B, and Γ ⊢ {s'…} : B' give Γ ⊢ {s s'…} : B - {Nothing} ∪ B'";
            WslTExpr "wsl/t-expr" StatementTyping "004 Typing statements" "wsl::validation::typing::statement::t_expr" "Γ ⊢ e : τ gives Γ ⊢ e; : {Nothing}";

            // Typing expressions.
            WslTLiteralTrue "wsl/t-literal-true" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::literal::t_literal_true" "Γ ⊢ true : bool";
            WslTLiteralFalse "wsl/t-literal-false" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::literal::t_literal_false" "Γ ⊢ false : bool";
            WslTLiteralFloat "wsl/t-literal-float" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::literal::t_literal_float" "a float literal is a float";
            WslTLiteralUint "wsl/t-literal-uint" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::literal::t_literal_uint" "an unsigned literal that fits in 32 bits is a uint";
            WslTLiteralInt "wsl/t-literal-int" ExpressionTyping "004 Typing expressions; WSL-C9, WSL-C10" "wsl::validation::typing::literal::t_literal_int" "an integer literal is a float, and an int or a uint if it is representable as one";
            WslTParens "wsl/t-parens" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_parens" "Γ ⊢ e : τ gives Γ ⊢ (e) : τ";
            WslTComma "wsl/t-comma" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_comma" "Γ ⊢ e1 : τ1 and Γ ⊢ e2 : τ2 give Γ ⊢ e1, e2 : τ2, a right-value";
            WslTOr "wsl/t-or" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_or" "Γ ⊢ e1 : bool and Γ ⊢ e2 : bool give Γ ⊢ e1 || e2 : bool";
            WslTAnd "wsl/t-and" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_and" "Γ ⊢ e1 : bool and Γ ⊢ e2 : bool give Γ ⊢ e1 && e2 : bool";
            WslTTernaryIntLiterals "wsl/t-ternary-int-literals" ExpressionTyping "004 Typing expressions; WSL-C9" "wsl::validation::typing::expression::t_ternary_int_literals" "Γ ⊢ e1 : bool gives Γ ⊢ e1 ? n2 : n3 : int, for integer literals n2 and n3";
            WslTTernaryNoIntLiterals "wsl/t-ternary-no-int-literals" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_ternary_no_int_literals" "Γ ⊢ e1 : bool, Γ ⊢ e2 : τ and Γ ⊢ e3 : τ, τ no pointer, array reference, sampler or texture, give Γ ⊢ e1 ? e2 : e3 : τ";
            WslTAssignment "wsl/t-assignment" ExpressionTyping "004 Typing expressions; WSL-C10" "wsl::validation::typing::expression::t_assignment" "Γ ⊢ e1 : ALVal(τ) and Γ ⊢ e2 : τ, τ no pointer, array reference, sampler or texture, give Γ ⊢ e1 = e2 : τ";
            WslTAlvalToRval "wsl/t-alval-to-rval" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_alval_to_rval" "Γ ⊢ e : ALVal(τ) gives Γ ⊢ e : τ";
            WslTLvalToAlval "wsl/t-lval-to-alval" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_lval_to_alval" "Γ ⊢ e : LVal(τ, a), a not constant, gives Γ ⊢ e : ALVal(τ)";
            WslTLvalToRval "wsl/t-lval-to-rval" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_lval_to_rval" "Γ ⊢ e : LVal(τ, a) gives Γ ⊢ e : τ";
            WslTVariableName "wsl/t-variable-name" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_variable_name" "Γ(x) = τ gives Γ ⊢ x : τ";
            WslTAddressTaking "wsl/t-address-taking" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_address_taking" "Γ ⊢ e : LVal(τ, a) gives Γ ⊢ &e : Ptr(τ, a)";
            WslTPtrDeref "wsl/t-ptr-deref" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_ptr_deref" "Γ ⊢ e : Ptr(τ, a) gives Γ ⊢ *e : LVal(τ, a)";
            WslTTakeRefLval "wsl/t-take-ref-lval" ExpressionTyping "004 Typing expressions; WSL-C3" "wsl::validation::typing::expression::t_take_ref_lval" "Γ ⊢ e : LVal(τ, a) gives Γ ⊢ @e : Ref(τ', a), τ' the elements' type if τ is an array and τ otherwise";
            WslTDotAddressTaker "wsl/t-dot-address-taker" ExpressionTyping "004 Typing expressions, dot 1.1" "wsl::validation::typing::access::t_dot_address_taker" "Γ ⊢ e : LVal(τ, a) and operator&.f : Ptr(τ, a) → Ptr(τ', a) give Γ ⊢ e.f : LVal(τ', a)";
            WslTDotSetter "wsl/t-dot-setter" ExpressionTyping "004 Typing expressions, dot 1.2" "wsl::validation::typing::access::t_dot_setter" "Γ ⊢ e : ALVal(τ) and operator.f= : τ, τ' → τ give Γ ⊢ e.f : ALVal(τ')";
            WslTDotGetter "wsl/t-dot-getter" ExpressionTyping "004 Typing expressions, dot 1.3" "wsl::validation::typing::access::t_dot_getter" "Γ ⊢ e : τ and operator.f : τ → τ' give Γ ⊢ e.f : τ'";
            WslTDotEnum "wsl/t-dot-enum" ExpressionTyping "004 Typing expressions, dot 2" "wsl::validation::typing::access::t_dot_enum" "E an enum with the element A, and no variable, gives Γ ⊢ E.A : E";
            WslTLengthArray "wsl/t-length-array" ExpressionTyping "004 Typing expressions, call 3.1; WSL-C8" "wsl::validation::typing::access::t_length_array" "Γ ⊢ e : τ[n] gives Γ ⊢ e.length : uint";
            WslTLengthReference "wsl/t-length-reference" ExpressionTyping "004 Typing expressions, call 3.2; WSL-C8" "wsl::validation::typing::access::t_length_reference" "Γ ⊢ e : Ref(τ, a) gives Γ ⊢ e.length : uint";
            WslTArrayRefIndex "wsl/t-array-ref-index" ExpressionTyping "004 Typing expressions, index 2" "wsl::validation::typing::access::t_array_ref_index" "Γ ⊢ e1 : Ref(τ, a) and Γ ⊢ e2 : uint give Γ ⊢ e1[e2] : LVal(τ, a)";
            WslTIndexAddressTaker "wsl/t-index-address-taker" ExpressionTyping "004 Typing expressions, index 3; WSL-C7" "wsl::validation::typing::access::t_index_address_taker" "Γ ⊢ e1 : LVal(τ, a), Γ ⊢ e2 : uint and operator&[] : Ptr(τ, a), uint → Ptr(τ', a) give Γ ⊢ e1[e2] : LVal(τ', a)";
            WslTIndexSetter "wsl/t-index-setter" ExpressionTyping "004 Typing expressions, index 4; WSL-C7" "wsl::validation::typing::access::t_index_setter" "Γ ⊢ e1 : ALVal(τ), Γ ⊢ e2 : uint and operator[]= : τ, uint, τ' → τ give Γ ⊢ e1[e2] : ALVal(τ')";
            WslTIndexGetter "wsl/t-index-getter" ExpressionTyping "004 Typing expressions, index 5; WSL-C7" "wsl::validation::typing::access::t_index_getter" "Γ ⊢ e1 : τ, Γ ⊢ e2 : uint and operator[] : τ, uint → τ' give Γ ⊢ e1[e2] : τ'";
            WslTPostfixIncr "wsl/t-postfix-incr" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_postfix_incr" "Γ ⊢ e : ALVal(τ) and operator++ : τ → τ give Γ ⊢ e++ : τ; likewise --";
            WslTPrefixIncr "wsl/t-prefix-incr" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_prefix_incr" "Γ ⊢ e++ : τ gives Γ ⊢ ++e : τ; likewise --";
            WslTOperatorPlusEqual "wsl/t-operator-plus-equal" ExpressionTyping "004 Typing expressions" "wsl::validation::typing::expression::t_operator_plus_equal" "Γ ⊢ e1 : ALVal(τ), Γ ⊢ e2 : τ' and operator+ : τ, τ' → τ give Γ ⊢ e1 += e2 : τ; likewise the other operators";
            WslTCall "wsl/t-call" ExpressionTyping "004 Typing expressions, call 1, 2, 4, 5, 8" "wsl::validation::typing::call::t_call" "Γ ⊢ ei : τi and one function f : τ1 … τn → τ, no entry point, give Γ ⊢ f(e1, …, en) : τ";
            WslTCallLiterals "wsl/t-call-literals" ExpressionTyping "004 Typing expressions, call 6, 7; WSL-C9" "wsl::validation::typing::call::t_call_literals" "where several functions take the arguments, integer literals are of type int";

            // Entry points.
            WslEpBucket "wsl/ep-bucket" EntryPoint "004 Arguments and Return Types" "wsl::validation::entry::flatten::ep_bucket" "each flattened argument and result is a built-in, a resource, a stage-in or stage-out variable or a specialization constant, by its semantic";
            WslEpSameName "wsl/ep-same-name" EntryPoint "004 Arguments and Return Types" "wsl::validation::entry::flatten::ep_same_name" "flattened members of the same name are identical";
            WslEpSingle "wsl/ep-single" EntryPoint "004 Arguments and Return Types; WSL-C29" "wsl::validation::entry::flatten::ep_single" "no two results of an entry point have the same semantic";
            WslEpBuiltin "wsl/ep-builtin" EntryPoint "004 Built-in Variables" "wsl::validation::entry::bucket::ep_builtin" "a built-in variable has the type of its semantic, and stands where its stage has it";
            WslEpResourceType "wsl/ep-resource-type" EntryPoint "004 Arguments and Return Types, bucket 2" "wsl::validation::entry::bucket::ep_resource_type" "a resource is a texture, a sampler or an array reference";
            WslEpResourceSpace "wsl/ep-resource-space" EntryPoint "004 Arguments and Return Types, bucket 2" "wsl::validation::entry::bucket::ep_resource_space" "a resource is in the device or constant address space";
            WslEpSliceElement "wsl/ep-slice-element" EntryPoint "004 Arguments and Return Types, bucket 2" "wsl::validation::entry::bucket::ep_slice_element" "an array reference that is a resource holds scalars, vectors, matrices, or structures of them";
            WslEpStageVariable "wsl/ep-stage-variable" EntryPoint "004 Arguments and Return Types, bucket 3" "wsl::validation::entry::bucket::ep_stage_variable" "a stage-in or stage-out variable is a scalar, a vector or a matrix";
            WslEpSpecialized "wsl/ep-specialized" EntryPoint "004 Arguments and Return Types, bucket 4" "wsl::validation::entry::bucket::ep_specialized" "a specialization constant is a scalar";
            WslEpStageBuckets "wsl/ep-stage-buckets" EntryPoint "004 Arguments and Return Types; WSL-C25" "wsl::validation::entry::bucket::ep_stage_buckets" "vertex and fragment stages take every bucket, compute stages built-ins and resources; vertex stages give built-ins and stage-out variables, fragment stages built-ins, compute stages nothing";
            WslEpInterpolation "wsl/ep-interpolation" EntryPoint "004 Arguments and Return Types" "wsl::validation::entry::bucket::ep_interpolation" "a stage-out variable of a vertex stage or stage-in variable of a fragment stage is not both nointerpolation and noperspective";
            WslEpSampling "wsl/ep-sampling" EntryPoint "004 Arguments and Return Types" "wsl::validation::entry::bucket::ep_sampling" "a stage-out variable of a vertex stage or stage-in variable of a fragment stage is not both centroid and sample";
            WslEpNumthreads "wsl/ep-numthreads" EntryPoint "004 Top-level declarations; WSL-B13" "wsl::validation::entry::ep_numthreads" "the numbers of threads of a group are positive and fit in 32 bits";
            WslEpNotCalled "wsl/ep-not-called" EntryPoint "004 Entry Points" "wsl::validation::typing::call::ep_not_called" "no function calls an entry point";
            WslEpThreadgroup "wsl/ep-threadgroup" EntryPoint "004 Entry Points" "wsl::validation::typing::calls::ep_threadgroup" "vertex and fragment entry points never refer to the threadgroup address space, by what they call neither";
            WslEpStageFunctions "wsl/ep-stage-functions" EntryPoint "004 Standard library" "wsl::validation::typing::calls::ep_stage_functions" "an entry point calls, by what it calls too, only library functions of its stage";
            WslEpOpaque "wsl/ep-opaque" EntryPoint "004 Samplers, Textures" "wsl::validation::typing::block::ep_opaque" "samplers and textures are arguments only: no variable holds one";
        }
    };
}
