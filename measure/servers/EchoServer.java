// SPDX-License-Identifier: MIT
/** An echo server on loopback with a thread for each connection, for `ferry bench threads`. */

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

public final class EchoServer {
    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(args[0]);
        try (ServerSocket server = new ServerSocket(port, 128, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                Socket socket = server.accept();
                new Thread(() -> serve(socket)).start();
            }
        }
    }

    private static void serve(Socket socket) {
        byte[] data = new byte[64];
        try (socket) {
            socket.setTcpNoDelay(true);
            var in = socket.getInputStream();
            var out = socket.getOutputStream();
            for (int length; (length = in.read(data)) > 0;) {
                out.write(data, 0, length);
            }
        } catch (IOException e) {
            // The client has gone.
        }
    }
}
