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

    private static final int PAGE_RECORDS = 1000;
    private static final int PAGE_BYTES = 1 << 19; // This fits in a line, in which text takes up to twice its bytes.

    private record Request(String id, String method, Params params) {}

    /** The param {@code epoch} is null, unless {@code fencing} is claimed. */
    private record Params(
            String stateDir, String namespace, String runId, long expectedNext, List<FileJournal.Entry> records,
            long fromSequence, int limit) {}

    private FileJournal journal;

    /** Returns the result of a method, or null if it is not offered. A refusal is a result. */
    private Map<String, Object> result(String method, Params params) throws IOException {
        return switch (method) {
            case "initialize" -> initialize(params);
            case "append" -> journal.append(params.runId(), params.expectedNext(), params.records());
            case "load" -> load(params);
            case "shutdown" -> Map.of(); // Close what is open.
            default -> null;
        };
    }

    /** All state lives in {@code state_dir}, under {@code namespace}, and nowhere else. */
    private Map<String, Object> initialize(Params params) throws IOException {
        journal = new FileJournal(params.stateDir(), params.namespace());
        return Map.of("protocol", 1, "name", "my-journal", "version", "0.1.0",
                "capabilities", CAPABILITIES, "limits", FileJournal.LIMITS);
    }

    /** A page that would not fit in a line ends early, and is then not the end (JRN-021). */
    private Map<String, Object> load(Params params) throws IOException {
        var page = journal.load(params.runId(), params.fromSequence(), Math.min(params.limit(), PAGE_RECORDS));
        while (page.records().size() > 1 && FileJournal.sizeOf(page.records()) > PAGE_BYTES) {
            page = new FileJournal.Page(page.records().subList(0, page.records().size() / 2), false);
        }
        return Map.of("records", page.records(), "end", page.isEnd());
    }

    /** An exception is a fault, and ends this program: standard error tells it, and takes logs too. */
    public static void main(String[] arguments) throws IOException {
        var adapter = new Adapter();
        var lines = new BufferedReader(new InputStreamReader(System.in, UTF_8)); // No CR stands in JSON.
        for (String line; (line = lines.readLine()) != null; ) {
            Request request = JSON.fromJson(line, Request.class);
            Map<String, Object> result = adapter.result(request.method(), request.params());
            var answer = result != null
                    ? Map.of("jsonrpc", "2.0", "id", request.id(), "result", result)
                    : Map.of("jsonrpc", "2.0", "id", request.id(),
                            "error", Map.of("code", -32601, "message", "method not found: " + request.method()));
            System.out.write((JSON.toJson(answer) + "\n").getBytes(UTF_8)); // Not in the platform's charset.
            System.out.flush(); // Else the answer may stay in this process.
            if (request.method().equals("shutdown")) {
                return;
            }
        }
    }
}
