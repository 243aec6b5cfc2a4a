#pragma once

// A small validator of the JSON Schema keywords that resources/schema uses: type (one, or a list), required,
// properties, items, minItems, additionalProperties, minimum, maximum (exclusive ones too), enum. A keyword that it
// does not know is an error of the schema, so that a schema cannot promise what nobody checks.

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace orrery::test {

using Json = nlohmann::json;

inline bool hasType(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "number") return value.is_number();
    if (type == "null") return value.is_null();
    return type == "integer" && value.is_number_integer();
}

inline bool hasType(const Json& value, const Json& types) {
    if (types.is_string()) return hasType(value, types.get<std::string>());
    for (const Json& each : types)
        if (hasType(value, each.get<std::string>())) return true;
    return false;
}

inline void checkSchema(const Json& value, const Json& schema, const std::string& path,
                        std::vector<std::string>& errors) {
    static const std::set<std::string> known{"$schema",
                                             "title",
                                             "description",
                                             "type",
                                             "required",
                                             "properties",
                                             "items",
                                             "minimum",
                                             "maximum",
                                             "enum",
                                             "additionalProperties",
                                             "minItems",
                                             "exclusiveMinimum",
                                             "exclusiveMaximum"};
    for (const auto& [keyword, unused] : schema.items()) {
        if (!known.contains(keyword)) errors.push_back(path + ": the schema uses an unknown keyword " + keyword);
    }
    if (schema.contains("type") && !hasType(value, schema["type"])) {
        errors.push_back(path + ": not of type " + schema["type"].dump());
        return;
    }
    if (schema.contains("enum")) {
        bool found = false;
        for (const Json& each : schema["enum"]) found = found || each == value;
        if (!found) errors.push_back(path + ": " + value.dump() + " is not in the enum");
    }
    if (value.is_number()) {
        if (schema.contains("minimum") && value < schema["minimum"]) errors.push_back(path + ": below the minimum");
        if (schema.contains("maximum") && value > schema["maximum"]) errors.push_back(path + ": above the maximum");
        if (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"])
            errors.push_back(path + ": not above the minimum");
        if (schema.contains("exclusiveMaximum") && value >= schema["exclusiveMaximum"])
            errors.push_back(path + ": not below the maximum");
    }
    if (value.is_object()) {
        for (const Json& key : schema.value("required", Json::array())) {
            if (!value.contains(key.get<std::string>())) errors.push_back(path + ": lacks " + key.get<std::string>());
        }
        const Json properties = schema.value("properties", Json::object());
        const Json others = schema.value("additionalProperties", Json(true));
        for (const auto& [key, member] : value.items()) {
            if (properties.contains(key)) {
                checkSchema(member, properties[key], path + "." + key, errors);
            } else if (others.is_object()) {
                checkSchema(member, others, path + "." + key, errors);
            } else if (others == false) {
                errors.push_back(path + ": has an unknown key " + key);
            }
        }
    }
    if (value.is_array() && schema.contains("minItems") && value.size() < schema["minItems"]) {
        errors.push_back(path + ": has too few items");
    }
    if (value.is_array() && schema.contains("items")) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            checkSchema(value[i], schema["items"], path + "[" + std::to_string(i) + "]", errors);
        }
    }
}

/// What is wrong with a text as an instance of resources/schema/<name>.schema.json; empty if nothing is.
inline std::vector<std::string> schemaErrors(const std::string& text, const std::string& name) {
    std::ifstream file(std::string(ORRERY_SOURCE "/resources/schema/") + name + ".schema.json");
    const Json schema = Json::parse(file, nullptr, false);
    if (schema.is_discarded()) return {"the schema " + name + " is not JSON"};
    const Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded()) return {"the output is not JSON"};
    std::vector<std::string> errors;
    checkSchema(value, schema, "$", errors);
    return errors;
}

}  // namespace orrery::test
