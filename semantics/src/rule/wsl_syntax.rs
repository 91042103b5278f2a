//! Rules of WSL's lexical analysis, grammar and desugaring: seed 004 "Grammar".

macro_rules! wsl_syntax_rules {
    ($then:ident $second:ident $third:ident $last:ident $($rows:tt)*) => {
        $then! { $second $third $last $($rows)*
            // Lexical analysis.
            WslLexToken "wsl/lex-token" Lexing "004 Lexical analysis" "wsl::front::lex::lex" "token ::= IntLiteral | FloatLiteral | punctuation | keyword | Identifier | OperatorName";
            WslLexSignedDecimal "wsl/lex-signed-decimal" Lexing "004 Literals; WSL-A2, WSL-A7" "wsl::front::lex::signed_decimal" "signed-decimal ::= \"-\"? (\"0\" | [1-9] [0-9]*)";
            WslLexUnsignedDecimal "wsl/lex-unsigned-decimal" Lexing "004 Literals" "wsl::front::lex::unsigned_decimal" "unsigned-decimal ::= (\"0\" | [1-9] [0-9]*) \"u\"";
            WslLexSignedHexadecimal "wsl/lex-signed-hexadecimal" Lexing "004 Literals; WSL-A2" "wsl::front::lex::signed_hexadecimal" "signed-hexadecimal ::= \"-\"? \"0x\" [0-9a-fA-F]+";
            WslLexUnsignedHexadecimal "wsl/lex-unsigned-hexadecimal" Lexing "004 Literals" "wsl::front::lex::unsigned_hexadecimal" "unsigned-hexadecimal ::= \"0x\" [0-9a-fA-F]+ \"u\"";
            WslLexFloat "wsl/lex-float" Lexing "004 Literals; WSL-A2, WSL-A7" "wsl::front::lex::float" "float ::= \"-\"? ([0-9]+ \".\" [0-9]* | [0-9]* \".\" [0-9]+) \"f\"?";
            WslLexKeyword "wsl/lex-keyword" Lexing "004 Keywords and punctuation; WSL-A3" "wsl::front::lex::keyword" "keyword ::= \"struct\" | \"typedef\" | … | \"uniform\"";
            WslLexPunctuation "wsl/lex-punctuation" Lexing "004 Keywords and punctuation; WSL-A1" "wsl::front::lex::punctuation" "punctuation ::= \"==\" | \"!=\" | \"<=\" | \">=\" | … | \")\"";
            WslLexIdentifier "wsl/lex-identifier" Lexing "004 Identifiers and operator names; WSL-A6" "wsl::front::lex::identifier" "Identifier ::= (letter | \"_\") (letter | digit | \"_\")*, neither \"_\" nor a keyword";
            WslLexOperatorName "wsl/lex-operator-name" Lexing "004 Identifiers and operator names; WSL-A8" "wsl::front::lex::operator_name" "OperatorName ::= \"operator\" (\"<<\" | \">>\" | \"+\" | \"-\" | \"*\" | \"/\" | \"%\" | \"&\" | \"^\" | \"|\" | \">=\" | \"<=\" | \"==\" | \"!=\" | \"<\" | \">\" | \"++\" | \"--\" | \"!\" | \"~\" | \"[]\" | \"[]=\" | \"&[]\" | \"&.\" Identifier | \".\" Identifier | \".\" Identifier \"=\")";
            WslLexWhitespace "wsl/lex-whitespace" Lexing "004 Whitespace and comments" "wsl::front::lex::whitespace" "whitespace ::= \" \" | \"\\t\" | \"\\r\" | \"\\n\"";
            WslLexLineComment "wsl/lex-line-comment" Lexing "004 Whitespace and comments" "wsl::front::lex::line_comment" "line-comment ::= \"//\" [^\\n]*";
            WslLexBlockComment "wsl/lex-block-comment" Lexing "004 Whitespace and comments" "wsl::front::lex::block_comment" "block-comment ::= \"/*\" (whatever has no \"*/\") \"*/\"";

            // Top-level declarations.
            WslGTopLevelDecl "wsl/g-top-level-decl" Grammar "004 Top-level declarations" "wsl::front::parse::decl::top_level_decl" "topLevelDecl ::= \";\" | typedef | structDef | enumDef | funcDef";
            WslGTypedef "wsl/g-typedef" Grammar "004 Top-level declarations" "wsl::front::parse::decl::typedef" "typedef ::= \"typedef\" Identifier \"=\" type \";\"";
            WslGStructDef "wsl/g-struct-def" Grammar "004 Top-level declarations" "wsl::front::parse::decl::struct_def" "structDef ::= \"struct\" Identifier \"{\" structElement* \"}\"";
            WslGStructElement "wsl/g-struct-element" Grammar "004 Top-level declarations; WSL-B6" "wsl::front::parse::decl::struct_element" "structElement ::= qualifier* type Identifier (\":\" semantic)? \";\"";
            WslGQualifier "wsl/g-qualifier" Grammar "004 Arguments and Return Types; WSL-B6" "wsl::front::parse::decl::qualifiers" "qualifier ::= \"nointerpolation\" | \"noperspective\" | \"centroid\" | \"sample\"";
            WslGEnumDef "wsl/g-enum-def" Grammar "004 Top-level declarations" "wsl::front::parse::decl::enum_def" "enumDef ::= \"enum\" Identifier (\":\" type)? \"{\" enumElement (\",\" enumElement)* \"}\"";
            WslGEnumElement "wsl/g-enum-element" Grammar "004 Top-level declarations" "wsl::front::parse::decl::enum_element" "enumElement ::= Identifier (\"=\" constexpr)?";
            WslGFuncDef "wsl/g-func-def" Grammar "004 Top-level declarations; WSL-B2" "wsl::front::parse::decl::func_def" "funcDef ::= funcDecl \"{\" (stmt | variableDecls \";\")* \"}\"";
            WslGFuncDecl "wsl/g-func-decl" Grammar "004 Top-level declarations" "wsl::front::parse::decl::func_decl" "funcDecl ::= (entryPointDecl | normalFuncDecl | castOperatorDecl) (\":\" semantic)?";
            WslGEntryPointDecl "wsl/g-entry-point-decl" Grammar "004 Top-level declarations" "wsl::front::parse::decl::entry_point_decl" "entryPointDecl ::= (\"vertex\" | \"fragment\" | \"[\" numthreadsSemantic \"]\" \"compute\") type Identifier parameters";
            WslGNumthreadsSemantic "wsl/g-numthreads-semantic" Grammar "004 Top-level declarations; WSL-B13" "wsl::front::parse::decl::numthreads_semantic" "numthreadsSemantic ::= \"numthreads\" \"(\" IntLiteral \",\" IntLiteral \",\" IntLiteral \")\"";
            WslGNormalFuncDecl "wsl/g-normal-func-decl" Grammar "004 Top-level declarations" "wsl::front::parse::decl::normal_func_decl" "normalFuncDecl ::= type (Identifier | OperatorName) parameters";
            WslGCastOperatorDecl "wsl/g-cast-operator-decl" Grammar "004 Top-level declarations" "wsl::front::parse::decl::cast_operator_decl" "castOperatorDecl ::= \"operator\" type parameters";
            WslGParameters "wsl/g-parameters" Grammar "004 Top-level declarations" "wsl::front::parse::decl::parameters" "parameters ::= \"(\" \")\" | \"(\" parameter (\",\" parameter)* \")\"";
            WslGParameter "wsl/g-parameter" Grammar "004 Top-level declarations; WSL-B6, WSL-B7" "wsl::front::parse::decl::parameter" "parameter ::= qualifier* type Identifier (\":\" semantic)?";
            WslGSemantic "wsl/g-semantic" Grammar "004 Top-level declarations; WSL-A4" "wsl::front::parse::decl::semantic" "semantic ::= builtInSemantic | stageInOutSemantic | resourceSemantic | specializationConstantSemantic";
            WslGBuiltInSemantic "wsl/g-built-in-semantic" Grammar "004 Top-level declarations; WSL-A3, WSL-A5" "wsl::front::parse::decl::built_in_semantic" "builtInSemantic ::= \"SV_InstanceID\" | \"SV_VertexID\" | \"PSIZE\" | \"SV_Position\" | \"SV_IsFrontFace\" | \"SV_SampleIndex\" | \"SV_InnerCoverage\" | \"SV_Target\" IntLiteral | \"SV_Depth\" | \"SV_Coverage\" | \"SV_DispatchThreadID\" | \"SV_GroupID\" | \"SV_GroupIndex\" | \"SV_GroupThreadID\"";
            WslGStageInOutSemantic "wsl/g-stage-in-out-semantic" Grammar "004 Top-level declarations" "wsl::front::parse::decl::stage_in_out_semantic" "stageInOutSemantic ::= \"attribute\" \"(\" IntLiteral \")\"";
            WslGResourceSemantic "wsl/g-resource-semantic" Grammar "004 Top-level declarations" "wsl::front::parse::decl::resource_semantic" "resourceSemantic ::= \"register\" \"(\" Identifier (\",\" Identifier)? \")\"";
            WslGSpecializationConstantSemantic "wsl/g-specialization-constant-semantic" Grammar "004 Top-level declarations; WSL-A4" "wsl::front::parse::decl::specialization_constant_semantic" "specializationConstantSemantic ::= \"specialized\"";

            // Statements.
            WslGStmt "wsl/g-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::stmt" "stmt ::= \"{\" (stmt | variableDecls \";\")* \"}\" | compoundStmt | terminatorStmt \";\" | maybeEffectfulExpr \";\"";
            WslGCompoundStmt "wsl/g-compound-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::compound_stmt" "compoundStmt ::= ifStmt | ifElseStmt | whileStmt | doWhileStmt | forStmt | switchStmt";
            WslGTerminatorStmt "wsl/g-terminator-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::terminator_stmt" "terminatorStmt ::= \"break\" | \"continue\" | \"discard\" | \"fallthrough\" | \"return\" expr?";
            WslGIfStmt "wsl/g-if-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::if_stmt" "ifStmt ::= \"if\" \"(\" expr \")\" stmt";
            WslGIfElseStmt "wsl/g-if-else-stmt" Grammar "004 Statements; WSL-B14" "wsl::front::parse::stmt::if_else_stmt" "ifElseStmt ::= \"if\" \"(\" expr \")\" stmt \"else\" stmt";
            WslGWhileStmt "wsl/g-while-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::while_stmt" "whileStmt ::= \"while\" \"(\" expr \")\" stmt";
            WslGForStmt "wsl/g-for-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::for_stmt" "forStmt ::= \"for\" \"(\" (maybeEffectfulExpr | variableDecls) \";\" expr? \";\" expr? \")\" stmt";
            WslGDoWhileStmt "wsl/g-do-while-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::do_while_stmt" "doWhileStmt ::= \"do\" stmt \"while\" \"(\" expr \")\" \";\"";
            WslGSwitchStmt "wsl/g-switch-stmt" Grammar "004 Statements" "wsl::front::parse::stmt::switch_stmt" "switchStmt ::= \"switch\" \"(\" expr \")\" \"{\" switchCase* \"}\"";
            WslGSwitchCase "wsl/g-switch-case" Grammar "004 Statements; WSL-B2" "wsl::front::parse::stmt::switch_case" "switchCase ::= (\"case\" constexpr | \"default\") \":\" (stmt | variableDecls \";\")*";
            WslGVariableDecls "wsl/g-variable-decls" Grammar "004 Statements; WSL-B8" "wsl::front::parse::stmt::variable_decls" "variableDecls ::= (type | addressSpace Identifier typeArguments (\"[\" IntLiteral \"]\")*) variableDecl (\",\" variableDecl)*";
            WslGVariableDecl "wsl/g-variable-decl" Grammar "004 Statements" "wsl::front::parse::stmt::variable_decl" "variableDecl ::= Identifier (\"=\" ternaryConditional)?";

            // Types.
            WslGType "wsl/g-type" Grammar "004 Types" "wsl::front::parse::ty::ty" "type ::= addressSpace Identifier typeArguments typeSuffixAbbreviated+ | Identifier typeArguments typeSuffixNonAbbreviated*";
            WslGAddressSpace "wsl/g-address-space" Grammar "004 Types" "wsl::front::parse::ty::address_space" "addressSpace ::= \"constant\" | \"device\" | \"threadgroup\" | \"thread\"";
            WslGTypeSuffixAbbreviated "wsl/g-type-suffix-abbreviated" Grammar "004 Types" "wsl::front::parse::ty::type_suffix_abbreviated" "typeSuffixAbbreviated ::= \"*\" | \"[\" \"]\" | \"[\" IntLiteral \"]\"";
            WslGTypeSuffixNonAbbreviated "wsl/g-type-suffix-non-abbreviated" Grammar "004 Types" "wsl::front::parse::ty::type_suffix_non_abbreviated" "typeSuffixNonAbbreviated ::= \"*\" addressSpace | \"[\" \"]\" addressSpace | \"[\" IntLiteral \"]\"";
            WslGTypeArguments "wsl/g-type-arguments" Grammar "004 Types; WSL-B4" "wsl::front::parse::ty::type_arguments" "typeArguments ::= (\"<\" (typeArgument (\",\" typeArgument)*)? \">\")?";
            WslGTypeArgument "wsl/g-type-argument" Grammar "004 Types; WSL-B4" "wsl::front::parse::ty::type_argument" "typeArgument ::= constexpr | type";

            // Expressions.
            WslGExpr "wsl/g-expr" Grammar "004 Expressions" "wsl::front::parse::expr::expr" "expr ::= (expr \",\")? ternaryConditional";
            WslGTernaryConditional "wsl/g-ternary-conditional" Grammar "004 Expressions" "wsl::front::parse::expr::ternary_conditional" "ternaryConditional ::= exprLogicalOr \"?\" expr \":\" ternaryConditional | exprPrefix assignOperator ternaryConditional | exprLogicalOr";
            WslGAssignOperator "wsl/g-assign-operator" Grammar "004 Expressions" "wsl::front::parse::expr::assign_operator" "assignOperator ::= \"=\" | \"+=\" | \"-=\" | \"*=\" | \"/=\" | \"%=\" | \"&=\" | \"|=\" | \"^=\" | \">>=\" | \"<<=\"";
            WslGExprLogicalOr "wsl/g-expr-logical-or" Grammar "004 Expressions" "wsl::front::parse::expr::expr_logical_or" "exprLogicalOr ::= (exprLogicalOr \"||\")? exprLogicalAnd";
            WslGExprLogicalAnd "wsl/g-expr-logical-and" Grammar "004 Expressions" "wsl::front::parse::expr::expr_logical_and" "exprLogicalAnd ::= (exprLogicalAnd \"&&\")? exprBitwiseOr";
            WslGExprBitwiseOr "wsl/g-expr-bitwise-or" Grammar "004 Expressions" "wsl::front::parse::expr::expr_bitwise_or" "exprBitwiseOr ::= (exprBitwiseOr \"|\")? exprBitwiseXor";
            WslGExprBitwiseXor "wsl/g-expr-bitwise-xor" Grammar "004 Expressions" "wsl::front::parse::expr::expr_bitwise_xor" "exprBitwiseXor ::= (exprBitwiseXor \"^\")? exprBitwiseAnd";
            WslGExprBitwiseAnd "wsl/g-expr-bitwise-and" Grammar "004 Expressions" "wsl::front::parse::expr::expr_bitwise_and" "exprBitwiseAnd ::= (exprBitwiseAnd \"&\")? exprRelational";
            WslGExprRelational "wsl/g-expr-relational" Grammar "004 Expressions" "wsl::front::parse::expr::expr_relational" "exprRelational ::= exprShift (relationalBinop exprShift)?";
            WslGRelationalBinop "wsl/g-relational-binop" Grammar "004 Expressions" "wsl::front::parse::expr::relational_binop" "relationalBinop ::= \"<\" | \">\" | \"<=\" | \">=\" | \"==\" | \"!=\"";
            WslGExprShift "wsl/g-expr-shift" Grammar "004 Expressions" "wsl::front::parse::expr::expr_shift" "exprShift ::= (exprShift (\"<<\" | \">>\"))? exprAdd";
            WslGExprAdd "wsl/g-expr-add" Grammar "004 Expressions; WSL-B1" "wsl::front::parse::expr::expr_add" "exprAdd ::= (exprAdd (\"+\" | \"-\"))? exprMult";
            WslGExprMult "wsl/g-expr-mult" Grammar "004 Expressions; WSL-B1" "wsl::front::parse::expr::expr_mult" "exprMult ::= (exprMult (\"*\" | \"/\" | \"%\"))? exprPrefix";
            WslGExprPrefix "wsl/g-expr-prefix" Grammar "004 Expressions; WSL-A2" "wsl::front::parse::expr::expr_prefix" "exprPrefix ::= prefixOp exprPrefix | exprSuffix";
            WslGPrefixOp "wsl/g-prefix-op" Grammar "004 Expressions" "wsl::front::parse::expr::prefix_op" "prefixOp ::= \"++\" | \"--\" | \"+\" | \"-\" | \"~\" | \"!\" | \"*\" | \"&\" | \"@\"";
            WslGExprSuffix "wsl/g-expr-suffix" Grammar "004 Expressions; WSL-B15" "wsl::front::parse::expr::expr_suffix" "exprSuffix ::= callExpression limitedSuffixOp* | term (limitedSuffixOp | \"++\" | \"--\")*";
            WslGLimitedSuffixOp "wsl/g-limited-suffix-op" Grammar "004 Expressions" "wsl::front::parse::expr::limited_suffix_op" "limitedSuffixOp ::= \".\" Identifier | \"->\" Identifier | \"[\" expr \"]\"";
            WslGCallExpression "wsl/g-call-expression" Grammar "004 Expressions; WSL-B12" "wsl::front::parse::expr::call_expression" "callExpression ::= Identifier \"(\" (ternaryConditional (\",\" ternaryConditional)*)? \")\"";
            WslGTerm "wsl/g-term" Grammar "004 Expressions; WSL-A2" "wsl::front::parse::expr::term" "term ::= Literal | Identifier | \"(\" expr \")\"";
            WslGMaybeEffectfulExpr "wsl/g-maybe-effectful-expr" Grammar "004 Expressions" "wsl::front::parse::expr::maybe_effectful_expr" "maybeEffectfulExpr ::= (effAssignment (\",\" effAssignment)*)?";
            WslGEffAssignment "wsl/g-eff-assignment" Grammar "004 Expressions; WSL-B3" "wsl::front::parse::expr::eff_assignment" "effAssignment ::= exprPrefix assignOperator ternaryConditional | effPrefix";
            WslGEffPrefix "wsl/g-eff-prefix" Grammar "004 Expressions" "wsl::front::parse::expr::eff_prefix" "effPrefix ::= (\"++\" | \"--\") exprPrefix | effSuffix";
            WslGEffSuffix "wsl/g-eff-suffix" Grammar "004 Expressions; WSL-B15" "wsl::front::parse::expr::eff_suffix" "effSuffix ::= exprSuffix (\"++\" | \"--\") | callExpression | \"(\" expr \")\"";
            WslGConstexpr "wsl/g-constexpr" Grammar "004 Expressions" "wsl::front::parse::expr::constexpr" "constexpr ::= Literal | Identifier \".\" Identifier";
            WslGNesting "wsl/g-nesting" Grammar "a limit of this implementation" "wsl::front::parse::nesting" "no tree has more than 10000 levels of expressions, statements and types, where a chain of operators is one, or more than 262144 nodes from the top to the bottom";

            // Desugaring.
            WslDIf "wsl/d-if" Desugaring "004 Statements" "wsl::front::desugar::d_if" "if (e) s ⇝ if (e) s else {}";
            WslDWhile "wsl/d-while" Desugaring "004 Statements; WSL-B10" "wsl::front::desugar::d_while" "while (e) s ⇝ if (e) do s while (e);";
            WslDForCondition "wsl/d-for-condition" Desugaring "004 Statements" "wsl::front::desugar::d_for_condition" "for (X; ; e) s ⇝ for (X; true; e) s";
            WslDForIteration "wsl/d-for-iteration" Desugaring "004 Statements" "wsl::front::desugar::d_for_iteration" "for (X; e; ) s ⇝ for (X; e; true) s";
            WslDForInit "wsl/d-for-init" Desugaring "004 Statements; WSL-B11" "wsl::front::desugar::d_for_init" "for (X; e; e') s ⇝ { X; for (; e; e') s }";
            WslDDeclarations "wsl/d-declarations" Desugaring "004 Statements" "wsl::front::desugar::d_declarations" "T x = e, y; ⇝ T x = e; T y;";
            WslDEmpty "wsl/d-empty" Desugaring "004 Expressions" "wsl::front::desugar::d_empty" "; ⇝ true;";
            WslDArrow "wsl/d-arrow" Desugaring "004 Expressions" "wsl::front::desugar::d_arrow" "e->x ⇝ (*e).x";
            WslDOperator "wsl/d-operator" Desugaring "004 Expressions; WSL-B5" "wsl::front::desugar::d_operator" "e1 + e2 ⇝ operator+(e1, e2), and -, *, /, %, |, ^, &, <, >, <=, >=, ==, !=, <<, >> -e ⇝ operator-(e), and +, ~, !";
            WslDAddressSpace "wsl/d-address-space" Desugaring "004 Types" "wsl::front::desugar::d_address_space" "thread T*[]*[42] ⇝ T* thread[] thread* thread[42]";
        }
    };
}
