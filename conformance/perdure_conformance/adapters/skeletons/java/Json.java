import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** As much of JSON as the protocol needs, so that nothing has to be installed. Your project's library does as well. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Returns a Map, a List, a String, a Long, a Boolean or null. */
    static Object read(String text) {
        return new Json(text).value();
    }

    static String write(Object value) {
        if (value instanceof Map<?, ?> members) {
            return members.entrySet().stream()
                    .map(member -> write(member.getKey()) + ":" + write(member.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> items) {
            return items.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        }
        return value instanceof String string ? quoted(string) : String.valueOf(value);
    }

    private static String quoted(String string) {
        var quoted = new StringBuilder("\"");
        for (char character : string.toCharArray()) {
            if (character == '"' || character == '\\') {
                quoted.append('\\').append(character);
            } else if (character < ' ') {
                quoted.append(String.format("\\u%04x", (int) character));
            } else {
                quoted.append(character);
            }
        }
        return quoted.append('"').toString();
    }

    private Object value() {
        switch (next()) {
            case '{':
                Map<String, Object> members = new HashMap<>();
                for (at++; next() != '}'; skip(',')) {
                    String name = (String) value();
                    expect(':');
                    members.put(name, value());
                }
                at++;
                return members;
            case '[':
                List<Object> items = new ArrayList<>();
                for (at++; next() != ']'; skip(',')) {
                    items.add(value());
                }
                at++;
                return items;
            case '"':
                return string();
            default:
                int begin = at;
                while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                return word(text.substring(begin, at));
        }
    }

    private static Object word(String word) {
        return switch (word) {
            case "null" -> null;
            case "true", "false" -> Boolean.valueOf(word);
            default -> Long.valueOf(word); // The protocol has integers alone.
        };
    }

    private String string() {
        var string = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char character = text.charAt(at);
            string.append(character == '\\' ? escaped() : character);
        }
        at++;
        return string.toString();
    }

    private char escaped() {
        char character = text.charAt(++at);
        if (character == 'u') {
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 3, at + 1), 16);
        }
        int control = "bfnrt".indexOf(character);
        return control < 0 ? character : "\b\f\n\r\t".charAt(control);
    }

    /** Passes over spaces, and returns the character there. */
    private char next() {
        while (" \t\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return text.charAt(at);
    }

    private void skip(char character) {
        if (next() == character) {
            at++;
        }
    }

    private void expect(char character) {
        if (next() != character) {
            throw new IllegalArgumentException("no JSON: " + character + " is missing at " + at);
        }
        at++;
    }
}
