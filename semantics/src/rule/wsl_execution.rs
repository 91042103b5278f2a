//! Rules of WSL's execution: seed 004 "Dynamic rules".

macro_rules! wsl_execution_rules {
    ($then:ident $last:ident $($rows:tt)*) => {
        $then! { $last $($rows)*
            // statement
            WslEBlockAnnotate "wsl/e-block-annotate" StatementExecution "004 Blocks and variable declarations 1" "wsl::relation::execution::statement::e_block_annotate" "ρ ⊢ {s…} → {ρ: s…}";
            WslEBlockNextStmt "wsl/e-block-next-stmt" StatementExecution "004 Blocks and variable declarations 2" "wsl::relation::execution::statement::e_block_next_stmt" "{ρ': {} s…} → {ρ': s…}";
            WslEBlockTerminator "wsl/e-block-terminator" StatementExecution "004 Blocks and variable declarations 3; WSL-C5, WSL-D1" "wsl::relation::execution::statement::e_block_terminator" "{ρ': t s…} → t, t a terminator: a return of a value or of nothing, and discard too";
            WslEBlockVdeclReduce "wsl/e-block-vdecl-reduce" StatementExecution "004 Blocks and variable declarations 4.2; WSL-C4" "wsl::relation::execution::statement::e_block_vdecl_reduce" "ρ' ⊢ e → e' gives {ρ': T x = e; s…} → {ρ': T x = e'; s…}: x is not bound yet";
            WslEBlockVdeclComplete "wsl/e-block-vdecl-complete" StatementExecution "004 Blocks and variable declarations 4.3" "wsl::relation::execution::statement::e_block_vdecl_complete" "{ρ': T x = v; s…} → {ρ'[x ↦ id]: s…}, storing v to id";
            WslEBlockVdecl "wsl/e-block-vdecl" StatementExecution "004 Blocks and variable declarations 4.3, Annotations for execution; WSL-C19, WSL-D19" "wsl::relation::execution::statement::e_block_vdecl" "{ρ': T x; s…} → {ρ'[x ↦ id]: s…}, storing the default value of T to id unless its threadgroup has";
            WslEBlockReduce "wsl/e-block-reduce" StatementExecution "004 Blocks and variable declarations 5" "wsl::relation::execution::statement::e_block_reduce" "ρ' ⊢ s → s' gives {ρ': s s''…} → {ρ': s' s''…}";
            WslEIfTrue "wsl/e-if-true" StatementExecution "004 Branches and Switches 1" "wsl::relation::execution::statement::e_if_true" "if (true) s else s' → s";
            WslEIfFalse "wsl/e-if-false" StatementExecution "004 Branches and Switches 2" "wsl::relation::execution::statement::e_if_false" "if (false) s else s' → s'";
            WslEIfReduce "wsl/e-if-reduce" StatementExecution "004 Branches and Switches 3" "wsl::relation::execution::statement::e_if_reduce" "e → e' gives if (e) s else s' → if (e') s else s'";
            WslEEffectfulExprReduce "wsl/e-effectful-expr-reduce" StatementExecution "004 Other" "wsl::relation::execution::statement::e_effectful_expr_reduce" "e → e' gives e; → e';";
            WslEEffectfulExprElim "wsl/e-effectful-expr-elim" StatementExecution "004 Other; WSL-D7" "wsl::relation::execution::statement::e_effectful_expr_elim" "v; → {}";
            WslEReturnReduce "wsl/e-return-reduce" StatementExecution "004 Other" "wsl::relation::execution::statement::e_return_reduce" "e → e' gives return e; → return e';";
            // switch
            WslESwitchReduce "wsl/e-switch-reduce" StatementExecution "004 Branches and Switches, switch 1" "wsl::relation::execution::switch::e_switch_reduce" "e → e' gives switch (e) {…} → switch (e') {…}";
            WslESwitchCaseFound "wsl/e-switch-case-found" StatementExecution "004 Branches and Switches, switch 2" "wsl::relation::execution::switch::e_switch_case_found" "switch (v) {… case v: s0 … sn} → Cases({s0}, …, {sn})";
            WslESwitchDefault "wsl/e-switch-default" StatementExecution "004 Branches and Switches, switch 3" "wsl::relation::execution::switch::e_switch_default" "switch (v) {… default: s0 … sn} → Cases({s0}, …, {sn}), no case being v";
            WslECasesFallthrough "wsl/e-cases-fallthrough" StatementExecution "004 Branches and Switches, Cases 2" "wsl::relation::execution::switch::e_cases_fallthrough" "Cases(fallthrough;, s, …) → Cases(s, …)";
            WslECasesBreak "wsl/e-cases-break" StatementExecution "004 Branches and Switches, Cases 3" "wsl::relation::execution::switch::e_cases_break" "Cases(break;, s…) → {}";
            WslECasesOtherTerminator "wsl/e-cases-other-terminator" StatementExecution "004 Branches and Switches, Cases 4; WSL-C5" "wsl::relation::execution::switch::e_cases_other_terminator" "Cases(t, s…) → t, t another terminator";
            WslECasesReduce "wsl/e-cases-reduce" StatementExecution "004 Branches and Switches, Cases 5" "wsl::relation::execution::switch::e_cases_reduce" "s → s' gives Cases(s, s''…) → Cases(s', s''…)";
            // iteration
            WslEDoWhileLoop "wsl/e-do-while-loop" StatementExecution "004 Loops" "wsl::relation::execution::iteration::e_do_while_loop" "do s while (e); → Loop(s, {}, if (e) do s while (e); else {})";
            WslEForLoop "wsl/e-for-loop" StatementExecution "004 Loops" "wsl::relation::execution::iteration::e_for_loop" "for (; e; e') s → if (e) Loop(s, e';, for (; e; e') s) else {}";
            WslELoopBreak "wsl/e-loop-break" StatementExecution "004 Loops, Loop 1" "wsl::relation::execution::iteration::e_loop_break" "Loop(break;, s', s'') → {}";
            WslELoopNextIteration "wsl/e-loop-next-iteration" StatementExecution "004 Loops, Loop 2.1; WSL-D6" "wsl::relation::execution::iteration::e_loop_next_iteration" "Loop({}, {}, s'') → s'' and Loop(continue;, {}, s'') → s''";
            WslELoopIncrement "wsl/e-loop-increment" StatementExecution "004 Loops, Loop 2.2" "wsl::relation::execution::iteration::e_loop_increment" "s' → s1 gives Loop({}, s', s'') → Loop({}, s1, s'')";
            WslELoopOtherTerminator "wsl/e-loop-other-terminator" StatementExecution "004 Loops, Loop 3; WSL-C5" "wsl::relation::execution::iteration::e_loop_other_terminator" "Loop(t, s', s'') → t, t another terminator";
            WslELoopReduce "wsl/e-loop-reduce" StatementExecution "004 Loops, Loop 4" "wsl::relation::execution::iteration::e_loop_reduce" "s → s1 gives Loop(s, s', s'') → Loop(s1, s', s'')";
            // expression
            WslEVariable "wsl/e-variable" ExpressionExecution "004 Variables" "wsl::relation::execution::expression::e_variable" "x → LVal(ρ(x))";
            WslELoad "wsl/e-load" ExpressionExecution "004 Variables; WSL-D11" "wsl::relation::execution::expression::e_load" "LVal(a) → v, loading v from a; no valid element of an enum becomes an unspecified one";
            WslEParensExec "wsl/e-parens-exec" ExpressionExecution "004 Other" "wsl::relation::execution::expression::e_parens_exec" "(e) → e";
            WslECommaReduce "wsl/e-comma-reduce" ExpressionExecution "004 Other" "wsl::relation::execution::expression::e_comma_reduce" "e1 → e1' gives e1, e2 → e1', e2";
            WslECommaNext "wsl/e-comma-next" ExpressionExecution "004 Other" "wsl::relation::execution::expression::e_comma_next" "v, e2 → e2";
            WslEAndReduce "wsl/e-and-reduce" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_and_reduce" "e1 → e1' gives e1 && e2 → e1' && e2";
            WslEAndFalse "wsl/e-and-false" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_and_false" "false && e2 → false";
            WslEAndTrue "wsl/e-and-true" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_and_true" "true && e2 → e2";
            WslEOrReduce "wsl/e-or-reduce" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_or_reduce" "e1 → e1' gives e1 || e2 → e1' || e2";
            WslEOrTrue "wsl/e-or-true" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_or_true" "true || e2 → true";
            WslEOrFalse "wsl/e-or-false" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_or_false" "false || e2 → e2";
            WslETernaryReduce "wsl/e-ternary-reduce" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_ternary_reduce" "e1 → e1' gives e1 ? e2 : e3 → e1' ? e2 : e3";
            WslETernaryTrue "wsl/e-ternary-true" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_ternary_true" "true ? e2 : e3 → e2";
            WslETernaryFalse "wsl/e-ternary-false" ExpressionExecution "004 Operations affecting control-flow" "wsl::relation::execution::expression::e_ternary_false" "false ? e2 : e3 → e3";
            WslETakePtrReduce "wsl/e-take-ptr-reduce" ExpressionExecution "004 Pointers and references" "wsl::relation::execution::expression::e_take_ptr_reduce" "e reduced to an abstract left-value, e', gives &e → &e'";
            WslETakePtrLval "wsl/e-take-ptr-lval" ExpressionExecution "004 Pointers and references" "wsl::relation::execution::expression::e_take_ptr_lval" "&LVal(a) → Ptr(a)";
            WslEDerefPtr "wsl/e-deref-ptr" ExpressionExecution "004 Pointers and references" "wsl::relation::execution::expression::e_deref_ptr" "*Ptr(a) → LVal(a)";
            WslEDerefReduce "wsl/e-deref-reduce" ExpressionExecution "004 Pointers and references" "wsl::relation::execution::expression::e_deref_reduce" "e → e' gives *e → *e'";
            WslEMakeRefLval "wsl/e-make-ref-lval" ExpressionExecution "004 Arrays, references 1, 2; WSL-C3" "wsl::relation::execution::expression::e_make_ref_lval" "@LVal(a) → Ref(a, n), n the length of its array, and 1 if it is none";
            WslEMakeRefReduce "wsl/e-make-ref-reduce" ExpressionExecution "004 Arrays, references 3" "wsl::relation::execution::expression::e_make_ref_reduce" "e reduced to an abstract left-value, e', gives @e → @e'";
            WslEDotGetter "wsl/e-dot-getter" ExpressionExecution "004 Dot operator 2" "wsl::relation::execution::expression::e_dot_getter" "e.f → operator.f(e), e not reducible to an abstract left-value";
            WslEArrayDerefGetter "wsl/e-array-deref-getter" ExpressionExecution "004 Arrays, [] 2" "wsl::relation::execution::expression::e_array_deref_getter" "e1[e2] → operator[](e1, e2), e1[e2] not reducible to an abstract left-value";
            WslEArrayLength "wsl/e-array-length" ExpressionExecution "004 Typing expressions, call 3.1; WSL-C8" "wsl::relation::execution::expression::e_array_length" "LVal(a).length → n and v.length → n, of an array of n elements: a left-value is not loaded";
            WslEReferenceLength "wsl/e-reference-length" ExpressionExecution "004 Typing expressions, call 3.2; WSL-C8" "wsl::relation::execution::expression::e_reference_length" "Ref(a, n).length → n";
            WslEDotReduce "wsl/e-dot-reduce" ExpressionExecution "004 Dot operator 1" "wsl::relation::execution::expression::e_dot_reduce" "e.f reduced to an abstract left-value, e', gives e.f → e'";
            WslEArrayDerefReduce "wsl/e-array-deref-reduce" ExpressionExecution "004 Arrays, [] 1" "wsl::relation::execution::expression::e_array_deref_reduce" "e1[e2] reduced to an abstract left-value, e', gives e1[e2] → e'";
            // left
            WslEAlvalDotAnder "wsl/e-alval-dot-ander" ExpressionExecution "004 Reduction to an abstract left-value 1.2" "wsl::relation::execution::left::e_alval_dot_ander" "LVal(a).f → *operator&.f(&LVal(a))";
            WslEAlvalArrayAnder "wsl/e-alval-array-ander" ExpressionExecution "004 Reduction to an abstract left-value 2.5" "wsl::relation::execution::left::e_alval_array_ander" "LVal(a)[v] → *operator&[](&LVal(a), v)";
            WslEAlvalArrayRefReduce "wsl/e-alval-array-ref-reduce" ExpressionExecution "004 Reduction to an abstract left-value 2.2" "wsl::relation::execution::left::e_alval_array_ref_reduce" "e1 → e1', e1 an array reference, gives e1[e2] → e1'[e2]";
            WslEAlvalArrayReduceRight "wsl/e-alval-array-reduce-right" ExpressionExecution "004 Reduction to an abstract left-value 2.3" "wsl::relation::execution::left::e_alval_array_reduce_right" "e2 → e2' gives v[e2] → v[e2']";
            WslEArrayRefClamped "wsl/e-array-ref-clamped" ExpressionExecution "004 Reduction to an abstract left-value 2.4.2; WSL-D5" "wsl::relation::execution::left::e_array_ref_clamped" "Ref(a, n)[i] → Ref(a, n)[j], i not below n, j unspecified but below n";
            WslEArrayRefValid "wsl/e-array-ref-valid" ExpressionExecution "004 Reduction to an abstract left-value 2.4.3" "wsl::relation::execution::left::e_array_ref_valid" "Ref(a, n)[i] → LVal(a + i · stride), i below n";
            WslEAlvalGenericReduce "wsl/e-alval-generic-reduce" ExpressionExecution "004 Reduction to an abstract left-value 3; WSL-D3" "wsl::relation::execution::left::e_alval_generic_reduce" "e → e' where e is neither a left-value nor one of the forms above";
            WslEAlvalDotReduce "wsl/e-alval-dot-reduce" ExpressionExecution "004 Reduction to an abstract left-value 1.1" "wsl::relation::execution::left::e_alval_dot_reduce" "e1 reduced to an abstract left-value, e1', gives e1.f → e1'.f";
            WslEAlvalArrayReduceLeft "wsl/e-alval-array-reduce-left" ExpressionExecution "004 Reduction to an abstract left-value 2.1" "wsl::relation::execution::left::e_alval_array_reduce_left" "e1 reduced to an abstract left-value, e1', gives e1[e2] → e1'[e2]";
            // assign
            WslEAssignRightReduce "wsl/e-assign-right-reduce" ExpressionExecution "004 Assignment 2" "wsl::relation::execution::assign::e_assign_right_reduce" "e2 → e2' gives a = e2 → a = e2', a an abstract left-value";
            WslEAssignExecute "wsl/e-assign-execute" ExpressionExecution "004 Assignment 3" "wsl::relation::execution::assign::e_assign_execute" "LVal(a) = v → v, storing v to a";
            WslEAssignSetter "wsl/e-assign-setter" ExpressionExecution "004 Assignment 4; WSL-D17" "wsl::relation::execution::assign::e_assign_setter" "e3.f = v → e3 = operator.f=(e3, v), v";
            WslEAssignIndexedSetter "wsl/e-assign-indexed-setter" ExpressionExecution "004 Assignment 5; WSL-D17" "wsl::relation::execution::assign::e_assign_indexed_setter" "e3[i] = v → e3 = operator[]=(e3, i, v), v";
            WslEPostfixIncrElim "wsl/e-postfix-incr-elim" ExpressionExecution "004 Read-modify-write expressions; WSL-C18, WSL-D8" "wsl::relation::execution::assign::e_postfix_incr_elim" "e++ → LVal(id) = e, (e = operator++(e), LVal(id)), e an abstract left-value";
            WslEPrefixIncrElim "wsl/e-prefix-incr-elim" ExpressionExecution "004 Read-modify-write expressions" "wsl::relation::execution::assign::e_prefix_incr_elim" "++e → e = operator++(e), e an abstract left-value";
            WslEPlusEqualElim "wsl/e-plus-equal-elim" ExpressionExecution "004 Read-modify-write expressions; WSL-D9" "wsl::relation::execution::assign::e_plus_equal_elim" "e1 += e2 → e1 = operator+(e1, e2), e1 an abstract left-value";
            WslEAssignLeftReduce "wsl/e-assign-left-reduce" ExpressionExecution "004 Assignment 1" "wsl::relation::execution::assign::e_assign_left_reduce" "e1 reduced to an abstract left-value, e1', gives e1 = e2 → e1' = e2";
            WslEPostfixIncrReduce "wsl/e-postfix-incr-reduce" ExpressionExecution "004 Read-modify-write expressions" "wsl::relation::execution::assign::e_postfix_incr_reduce" "e reduced to an abstract left-value, e', gives e++ → e'++";
            WslEPrefixIncrReduce "wsl/e-prefix-incr-reduce" ExpressionExecution "004 Read-modify-write expressions" "wsl::relation::execution::assign::e_prefix_incr_reduce" "e reduced to an abstract left-value, e', gives ++e → ++e'";
            WslEPlusEqualReduce "wsl/e-plus-equal-reduce" ExpressionExecution "004 Read-modify-write expressions; WSL-D9" "wsl::relation::execution::assign::e_plus_equal_reduce" "e1 reduced to an abstract left-value, e1', gives e1 += e2 → e1' += e2";
            // call
            WslECallReduce "wsl/e-call-reduce" ExpressionExecution "004 Calls 1; WSL-D10" "wsl::relation::execution::call::e_call_reduce" "ei → ei', the leftmost argument that reduces, gives f(… ei …) → f(… ei' …)";
            WslECallResolve "wsl/e-call-resolve" ExpressionExecution "004 Calls 2; WSL-C2, WSL-D2" "wsl::relation::execution::call::e_call_resolve" "f(v1, …) → Call({ρ0[x1 ↦ id1]…: s}), storing v1 to id1, and so on from left to right";
            WslECallConstructReduce "wsl/e-call-construct-reduce" ExpressionExecution "004 Calls, Call 1" "wsl::relation::execution::call::e_call_construct_reduce" "s → s' gives Call(s) → Call(s')";
            WslECallReturnVoid "wsl/e-call-return-void" ExpressionExecution "004 Calls, Call 2; WSL-D15" "wsl::relation::execution::call::e_call_return_void" "Call(return;) → Void";
            WslECallEndFunction "wsl/e-call-end-function" ExpressionExecution "004 Calls, Call 2; WSL-D15" "wsl::relation::execution::call::e_call_end_function" "Call({}) → Void";
            WslECallReturn "wsl/e-call-return" ExpressionExecution "004 Calls, Call 3" "wsl::relation::execution::call::e_call_return" "Call(return v;) → v";
            WslEDiscard "wsl/e-discard" ExpressionExecution "004 Barriers and discard; WSL-C5" "wsl::relation::execution::call::e_discard" "Call(discard;) ends the thread";
            // generated
            WslEFieldAddress "wsl/e-field-address" ExpressionExecution "004 Generated functions" "wsl::relation::execution::generated::e_field_address" "operator&.f(Ptr(a)) → Ptr(a + offset of f)";
            WslEElementAddress "wsl/e-element-address" ExpressionExecution "004 Generated functions; WSL-D18" "wsl::relation::execution::generated::e_element_address" "operator&[](Ptr(a), i) → &((@*Ptr(a))[i])";
            WslEGeneratedGetter "wsl/e-generated-getter" ExpressionExecution "004 Generated functions; WSL-C13" "wsl::relation::execution::generated::e_generated_getter" "operator.f(v) → Call({ return b.f; }), storing v to b";
            WslEGeneratedSetter "wsl/e-generated-setter" ExpressionExecution "004 Generated functions; WSL-C13" "wsl::relation::execution::generated::e_generated_setter" "operator.f=(v, v') → Call({ b.f = x; return b; }), storing v to b and v' to x";
            // builtin
            WslECallLibrary "wsl/e-call-library" ExpressionExecution "004 Built-in Functions" "wsl::relation::execution::builtin::e_call_library" "f(v1, …) → v, f a function of the library that gives v";
            WslEInterlocked "wsl/e-interlocked" ExpressionExecution "004 Fences and atomic operations; WSL-D13" "wsl::relation::execution::builtin::e_interlocked" "InterlockedOp(x, y, z) → Void: a read-modify-write of *x by y, then a store of what was read to *z";
            WslECompareExchange "wsl/e-compare-exchange" ExpressionExecution "004 Fences and atomic operations" "wsl::relation::execution::builtin::e_compare_exchange" "InterlockedCompareExchange(x, old, new, z) → Void: a read-modify-write of *x to new if it holds old, else a load; then a store of what was read to *z";
            WslEBarrier "wsl/e-barrier" ExpressionExecution "004 Fences and atomic operations; WSL-D12" "wsl::relation::execution::builtin::e_barrier" "barrier() → Void, once every thread of the group stands at it";
            // derivative
            WslEDerivative "wsl/e-derivative" ExpressionExecution "004 Floating point arithmetic; WSL-D26" "wsl::relation::execution::derivative::e_derivative" "ddx(v) → b - a, and so on, once the quad of the thread stands at it";
            // texture
            WslETextureSample "wsl/e-texture-sample" ExpressionExecution "004 Sampler and texture operations; WSL-D23, WSL-D24" "wsl::relation::execution::texture::e_texture_sample" "Sample…(t, s, x, …) → v, the texels of t around x filtered as s says, of the level that derivatives or arguments choose";
            WslETextureCompare "wsl/e-texture-compare" ExpressionExecution "004 Sampler and texture operations; WSL-D23, WSL-D24" "wsl::relation::execution::texture::e_texture_compare" "SampleCmp…(t, s, x, d, …) → v, as Sample, but of 1 or 0 for each texel as s compares d with it or not";
            WslETextureGather "wsl/e-texture-gather" ExpressionExecution "004 Sampler and texture operations; WSL-D22, WSL-D23" "wsl::relation::execution::texture::e_texture_gather" "Gather…(t, s, x, …) → (v1, v2, v3, v4), a component of the four texels of level 0 around x, or s's comparisons with them";
            WslETextureLoad "wsl/e-texture-load" ExpressionExecution "004 Sampler and texture operations; WSL-D21, WSL-D22" "wsl::relation::execution::texture::e_texture_load" "Load(t, x, …) → v, the texel of t at x";
            WslETextureStore "wsl/e-texture-store" ExpressionExecution "004 Sampler and texture operations; WSL-D21, WSL-D22" "wsl::relation::execution::texture::e_texture_store" "Store(t, v, x) → Void, storing v, converted to t's format, as the texel of t at x if there is one";
            WslETextureDimensions "wsl/e-texture-dimensions" ExpressionExecution "004 Sampler and texture operations; WSL-D22" "wsl::relation::execution::texture::e_texture_dimensions" "GetDimensions(t, …) → Void, storing the sides of a level of t, and how many levels there are if one was named, through the pointers";
            // group
            WslGThread "wsl/g-thread" GroupExecution "004 Definitions" "wsl::relation::group::rules::g_thread" "t → t' gives G → G', t a thread of G";
            WslGBarrier "wsl/g-barrier" GroupExecution "004 Barriers and discard; WSL-D12" "wsl::relation::group::rules::g_barrier" "All threads of a group at the same instance of the same barrier go on";
            WslGQuad "wsl/g-quad" GroupExecution "004 Floating point arithmetic; WSL-D26" "wsl::draw::quad::g_quad" "The four threads of a quad, at the same instance of an operation over it, go on with the operands of all";
            WslGQuadApart "wsl/g-quad-apart" GroupExecution "004 Floating point arithmetic, Barriers and discard; WSL-D25, WSL-D26" "wsl::draw::quad::g_quad_apart" "Threads of a quad at an operation over it that not all come to go on, each with unspecified operands for the others";
            // draw
            WslDMatch "wsl/d-match" Draw "004 Arguments and Return Types" "wsl::draw::interface::d_match" "a stage-out variable and the stage-in variable with its attribute have the same type and qualifiers";
            WslDLeftOver "wsl/d-left-over" Draw "004 Arguments and Return Types; WSL-D28" "wsl::draw::interface::d_left_over" "a stage-in variable of a fragment shader that no stage-out variable matches is zeros";
            WslDAttribute "wsl/d-attribute" Draw "004 Vertex Shader" "wsl::draw::interface::d_attribute" "a stage-in variable of a vertex shader holds its vertex's part of the attribute's data, which are of its type";
            WslDInteger "wsl/d-integer" Draw "004 Rasterizer; WSL-D28" "wsl::draw::interface::d_integer" "a stage-in variable of a fragment shader that holds no floats is nointerpolation";
            WslDPosition "wsl/d-position" Draw "004 Vertex Shader; WSL-D28" "wsl::draw::interface::d_position" "a vertex shader has a result SV_Position";
            WslDVertex "wsl/d-vertex" Draw "004 Vertex Shader, Built-in Variables" "wsl::draw::vertex::d_vertex" "a vertex is a thread, with its number for SV_VertexID and that of its instance for SV_InstanceID";
            WslDClip "wsl/d-clip" Draw "004 Vertex Shader; WSL-D27" "wsl::draw::fragment::d_clip" "a position is in view where -w ≤ x, y, z ≤ w: x from the left edge to the right, y from the lower edge to the upper, z from the least depth to the greatest";
            WslDInterpolate "wsl/d-interpolate" Draw "004 Rasterizer, Arguments and Return Types; WSL-D29" "wsl::draw::fragment::d_interpolate" "a stage-in variable is the first vertex's if nointerpolation, linear on the screen if noperspective, else the average by the perspective-correct barycentric coordinates of the pixel's centre";
            WslDHelper "wsl/d-helper" Draw "004 Floating point arithmetic; WSL-D29" "wsl::draw::fragment::d_helper" "a quad has four threads; one whose pixel the triangle does not cover is a helper, of which nothing is kept";
            WslDFragment "wsl/d-fragment" Draw "004 Built-in Variables; WSL-D27, WSL-D29" "wsl::draw::fragment::d_fragment" "SV_IsFrontFace is true if the triangle turns counter-clockwise on the screen, SV_SampleIndex is 0, SV_InnerCoverage is 0 or 1";
            WslDDiscarded "wsl/d-discarded" Draw "004 Barriers and discard" "wsl::draw::target::d_discarded" "a thread that discard has ended leaves no fragment";
            WslDCoverage "wsl/d-coverage" Draw "004 Built-in Variables; WSL-D29" "wsl::draw::target::d_coverage" "a fragment whose SV_Coverage has no bit 0 is left out";
            WslDDepth "wsl/d-depth" Draw "004 Vertex Shader, Built-in Variables; WSL-D27" "wsl::draw::target::d_depth" "the depth of a fragment is its SV_Depth, if it has one, and else the interpolated one";
            WslDTarget "wsl/d-target" Draw "004 Output Merger, Built-in Variables" "wsl::draw::target::d_target" "a fragment that passes writes its SV_Target n to target n at its pixel, in the order of triangles";
        }
    };
}
