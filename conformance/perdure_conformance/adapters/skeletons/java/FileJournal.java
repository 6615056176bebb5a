import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A journal on files, to be replaced by yours. The adapter calls three things: the constructor, append and load.
 *
 * <p>A file for each run is written anew by each append: short, and slow when runs are long.
 */
final class FileJournal {
    static final Map<String, Integer> LIMITS =
            Map.of("max_batch_records", 1000, "max_batch_bytes", 1 << 20, "max_snapshot_bytes", 1 << 20); // JRN-014
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** One record of a run. The body is text, and kept as it is (JRN-002). */
    record Entry(long sequence, String eventId, String body) {}

    /** Some records, and whether no record follows them. */
    record Page(List<Entry> records, boolean isEnd) {}

    private final Path folder;

    FileJournal(String stateDir, String namespace) throws IOException {
        folder = Files.createDirectories(Path.of(stateDir, namespace));
    }

    /** Compares and appends. The first refusal that applies is the answer, in this order (JRN-013). */
    Map<String, Object> append(String runId, long expectedNext, List<Entry> records) throws IOException {
        List<Entry> stored = read(runId);
        var known = stored.stream().map(Entry::eventId).collect(Collectors.toSet()); // Of this run alone (JRN-010).
        if (!isValid(expectedNext, records)) {
            return Map.of("refused", "invalid_record");
        }
        if (records.size() > LIMITS.get("max_batch_records") || sizeOf(records) > LIMITS.get("max_batch_bytes")) {
            return Map.of("refused", "too_large"); // JRN-026
        }
        if (!new HashSet<>(stored).containsAll(records)) { // Else it is an exact replay, and stored already (JRN-008).
            if (records.stream().map(Entry::eventId).anyMatch(known::contains)) {
                return Map.of("refused", "event_id_conflict"); // JRN-009
            }
            if (expectedNext != stored.size() + 1) { // JRN-004, JRN-005, JRN-006
                return Map.of("refused", "sequence_conflict", "actual_next", stored.size() + 1);
            }
            stored.addAll(records);
            write(runId, stored);
        }
        return Map.of("acknowledged", records.stream()
                .map(entry -> Map.of("sequence", entry.sequence(), "event_id", entry.eventId()))
                .toList());
    }

    /** Returns a page (JRN-003, JRN-021). */
    Page load(String runId, long fromSequence, int limit) throws IOException {
        List<Entry> rest = read(runId).stream().skip(fromSequence - 1).toList();
        return new Page(rest.subList(0, Math.min(limit, rest.size())), rest.size() <= limit);
    }

    private Path path(String runId, String kind) {
        return folder.resolve(runId + "." + kind);
    }

    /** Returns all records of a run. One that is not known has none (JRN-011). */
    private List<Entry> read(String runId) throws IOException {
        Path path = path(runId, "json");
        String content = Files.exists(path) ? Files.readString(path) : "[]";
        return new ArrayList<>(List.of(Adapter.JSON.fromJson(content, Entry[].class)));
    }

    /**
     * Stores a run, with its new batch or as it was (JRN-015), and before it is acknowledged (JRN-017).
     *
     * <p>A kill leaves the old file or the new one. A power cut may take both: {@code durable} would be more than
     * process-crash if the new file were synced before it is renamed, and the folder after.
     */
    private void write(String runId, List<Entry> records) throws IOException {
        Path whole = Files.writeString(path(runId, "new"), Adapter.JSON.toJson(records));
        Files.move(whole, path(runId, "json"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Tells whether there are records, dense from expectedNext, with an id of their own and a body (JRN-012). */
    private static boolean isValid(long expectedNext, List<Entry> records) {
        Set<String> ids = new HashSet<>();
        for (Entry entry : records) {
            boolean isDue = entry.sequence() == expectedNext + ids.size() && !entry.body().isEmpty();
            if (!isDue || !UUID.matcher(entry.eventId()).matches() || !ids.add(entry.eventId())) {
                return false;
            }
        }
        return !records.isEmpty();
    }

    /** Returns how many bytes the bodies have. */
    static int sizeOf(List<Entry> records) {
        return records.stream().mapToInt(entry -> entry.body().getBytes(UTF_8).length).sum();
    }
}
