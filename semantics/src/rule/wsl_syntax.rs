//! Rules of WSL's lexical analysis, grammar and desugaring: seed 004 "Grammar".

macro_rules! wsl_syntax_rules {
    ($then:ident $later:ident $last:ident $($rows:tt)*) => {
        $then! { $later $last $($rows)*
            // Lexical analysis.
            WslLexToken "wsl/lex-token" Lexing "004 Lexical analysis" "wsl::lex::lex" "every character but white space and comments belongs to a token, each as long as possible";
        }
    };
}
