import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Map;

/**
 * Speaks protocol 1, JSON-RPC over standard input and output, for the journal in FileJournal.java.
 *
 * <pre>
 * javac -cp gson.jar -d build *.java
 * perdure adapter smoke --command "java -cp build:gson.jar Adapter"
 * perdure check journal --command "java -cp build:gson.jar Adapter"
 * </pre>
 */
public final class Adapter {
    // What is claimed is judged. What is not claimed is refused as unsupported (JRN-022). To claim more, ask what it
    // takes: perdure explain snapshots, or leases, fencing, multi_process, read, durable.
    private static final Map<String, Object> CAPABILITIES = Map.of(
            "exact_replay", true, // JRN-008
            "event_id_dedup", true, // JRN-009, JRN-023
            "atomic_batch", true, // JRN-015
            "durable", "process-crash"); // JRN-017

    static final Gson JSON = new GsonBuilder()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .disableHtmlEscaping() // It would make lines too long.
            .create();

    private record Request(String id, String method, Params params) {}

    /** The param {@code epoch} is null, unless {@code fencing} is claimed. */
    private record Params(
            String stateDir, String namespace, String runId,
            long expectedNext, List<FileJournal.Entry> records, long fromSequence, long limit) {}

    /** What is null is left out of JSON. */
    private record Answer(String jsonrpc, String id, Object result, Object error) {}

    /**
     * Answers requests, one line each, until shutdown or the end of input. A refusal is a result.
     *
     * <p>An exception is a fault, and ends this program: standard error tells it, and takes logs too.
     */
    public static void main(String[] arguments) throws IOException {
        FileJournal journal = null;
        var lines = new BufferedReader(new InputStreamReader(System.in, UTF_8)); // No CR stands in JSON.
        for (String line; (line = lines.readLine()) != null; ) {
            Request request = JSON.fromJson(line, Request.class);
            Params params = request.params();
            Map<String, Object> result = switch (request.method()) {
                case "initialize" -> {
                    journal = new FileJournal(params.stateDir(), params.namespace());
                    yield Map.of("protocol", 1, "name", "my-journal", "version", "0.1.0",
                            "capabilities", CAPABILITIES, "limits", FileJournal.LIMITS);
                }
                case "append" -> journal.append(params.runId(), params.expectedNext(), params.records());
                case "load" -> journal.load(params.runId(), params.fromSequence(), params.limit());
                case "shutdown" -> Map.of(); // Close what is open.
                default -> null;
            };
            Map<String, Object> error = Map.of("code", -32601, "message", "method not found: " + request.method());
            Answer answer = new Answer("2.0", request.id(), result, result == null ? error : null);
            System.out.write((JSON.toJson(answer) + "\n").getBytes(UTF_8)); // Not in the platform's charset.
            System.out.flush(); // Else the answer may stay in this process.
            if (request.method().equals("shutdown")) {
                return;
            }
        }
    }
}
