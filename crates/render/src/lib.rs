//! What does a page show, and where does it lead, once its scripts have run?
//!
//! [`Renderer::render`] gives a document that was fetched already to a browser, lets its scripts run, and returns a
//! [`Rendered`]: the text and the DOM of each frame, where the scripts would have gone, and what they asked for.
//!
//! - **The browser has no network.** Each of its requests is held before it is sent and becomes a [`SubRequest`]. Who
//!   calls answers it by its own means, or refuses it. Beside that the browser runs behind a proxy that does not exist
//!   and, where the system allows it, in a network namespace without an interface ([`Isolation`]).
//! - **Time is virtual.** While a page waits for nothing but time, its clock jumps ahead; while it waits for an answer,
//!   its clock stands still. So nothing here sleeps, and how slowly requests are paced changes no result.
//! - **Everything has a cap** ([`RenderCaps`]): a hostile page costs no more, and never the next page.
//! - The browser ends with this process, however that ends.

mod browser;
mod config;
mod connection;
mod error;
mod held;
mod isolation;
mod meter;
mod process;
mod reading;
mod rendered;
mod renderer;
mod run;
mod tab;

pub use config::{Assets, BROWSERS, RenderCaps, RenderConfig};
pub use error::RenderError;
pub use isolation::Isolation;
pub use rendered::{
    Ended, Exchange, ExchangeResult, Frame, Lead, LeadKind, PageToRender, Rendered, SubAnswer,
    SubRequest, Usage,
};
pub use renderer::Renderer;
