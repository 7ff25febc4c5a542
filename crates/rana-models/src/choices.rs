//! Enums of choices in configurations.

/// Declares an enum of choices whose names are the same in files, on the command line and in print.
macro_rules! choices {
    ($(#[$about:meta])* $type:ident, $what:literal, { $($(#[$doc:meta])* $variant:ident => $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }
        rana_graph::named!($type, $what, { $($variant => $name),+ });
    };
}

pub(crate) use choices;
