//! What lies between a standby and its leader, and breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A wire to a leader that can be cut, and that can swallow what comes back.
pub struct Wire {
    pub address: String,
    swallow: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Wire {
    pub async fn to(leader: std::net::SocketAddr) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let swallow = Arc::new(AtomicBool::new(false));
        let deaf = swallow.clone();
        let task = tokio::spawn(async move {
            let mut wires = JoinSet::new();
            loop {
                let (near, _) = listener.accept().await.unwrap();
                let far = TcpStream::connect(leader).await.unwrap();
                let deaf = deaf.clone();
                wires.spawn(async move {
                    let (mut near_in, mut near_out) = near.into_split();
                    let (mut far_in, mut far_out) = far.into_split();
                    let up = async { tokio::io::copy(&mut near_in, &mut far_out).await.unwrap_or(0) };
                    let down = async {
                        let mut buffer = vec![0; 16 << 10];
                        while let Ok(n @ 1..) = far_in.read(&mut buffer).await {
                            if !deaf.load(Ordering::SeqCst) && near_out.write_all(&buffer[..n]).await.is_err()
                            {
                                break;
                            }
                        }
                        0
                    };
                    tokio::select! { n = up => n, n = down => n }
                });
            }
        });
        Wire { address, swallow, task }
    }

    /// Nothing that the leader says arrives any more.
    pub fn swallow(&self) {
        self.swallow.store(true, Ordering::SeqCst);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How a leader ends a connection on which a call has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// It says that it has looked at no call.
    NeverLooked,
    /// Without a word.
    Breaks,
}

/// A leader that ends every connection as soon as a call arrives, and tells the test of each.
pub async fn closing_leader(closing: Closing) -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, calls) = mpsc::channel(64);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // The standby may close it first, when it has another leader.
            if close(stream, closing).await.is_ok() && tell.try_send(()).is_err() {
                return;
            }
        }
    });
    (address, calls)
}

async fn close(mut stream: TcpStream, closing: Closing) -> std::io::Result<()> {
    const PREFACE: usize = 24;
    const HEADERS: u8 = 1;
    const END_STREAM: u8 = 1;
    let empty_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream.write_all(&empty_settings).await?;
    stream.read_exact(&mut [0; PREFACE]).await?;
    let mut head = [0; 9];
    // A request without a body is the standby's own, which knocks.
    while head[3] != HEADERS || head[4] & END_STREAM != 0 {
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await?;
    }
    if closing == Closing::NeverLooked {
        // GOAWAY: the last stream that was looked at is none, and nothing is wrong.
        stream.write_all(&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).await?;
    }
    stream.shutdown().await
}
