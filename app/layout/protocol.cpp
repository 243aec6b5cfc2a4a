#include "app/layout/protocol.h"

#include "base/text/json_cursor.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace orrery::layout {
namespace {

using Json = nlohmann::json;

bool isSize(double value) {
    return std::isfinite(value) && value > 0 && value <= largestSize;
}

bool isIndex(double value, std::int32_t least, std::size_t end) {
    return value == std::floor(value) && value >= least && value < static_cast<double>(end);
}

// Rows of so many numbers each, at most `most` of them.
std::vector<std::vector<double>> readRows(JsonCursor& json, std::size_t width, std::size_t most) {
    std::vector<std::vector<double>> rows;
    for (json.array(); json.element();) {
        rows.push_back(json.numbers(width));
        if (json.ok() && rows.back().size() != width) json.fail("row", "a node, edge or frame has too few numbers");
        if (rows.size() > most) json.fail("too-large", "more nodes, edges or frames than are taken on");
    }
    return rows;
}

}  // namespace

std::optional<Request> parseRequest(const std::string& text, std::string& why) {
    JsonCursor json(text, "request", "layout");
    Request request;
    std::optional<std::vector<std::vector<double>>> nodes, edges;
    std::vector<std::vector<double>> frames;
    std::string_view name;
    for (json.object(); json.key(name);) {
        if (name == "engine") {
            request.engine = json.text();
        } else if (name == "leftToRight") {
            request.leftToRight = json.truth();
        } else if (name == "titleHeight") {
            request.titleHeight = json.number();
        } else if (name == "nodes") {
            nodes = readRows(json, 3, mostNodes);
        } else if (name == "edges") {
            edges = readRows(json, 2, mostEdges);
        } else if (name == "frames") {
            frames = readRows(json, 2, mostFrames);
        } else {
            json.skip();
        }
    }
    json.end();
    why = json.problem().message;
    if (!json.ok()) return std::nullopt;
    why = "the nodes or edges are missing";
    if (!nodes || !edges) return std::nullopt;
    why = "the engine is not one of dot, neato, sfdp, circo";
    if (request.engine != "dot" && request.engine != "neato" && request.engine != "sfdp" && request.engine != "circo") {
        return std::nullopt;
    }
    why = "a frame, node or edge names what is not there, or a size is not one";
    if (!(request.titleHeight >= 0 && request.titleHeight <= 1000)) return std::nullopt;
    for (const auto& row : frames) {
        if (!isIndex(row[0], -1, request.frames.size()) || !(row[1] >= 0 && row[1] <= largestSize)) return std::nullopt;
        request.frames.push_back({static_cast<std::int32_t>(row[0]), row[1]});
    }
    for (const auto& row : *nodes) {
        if (!isSize(row[0]) || !isSize(row[1]) || !isIndex(row[2], -1, frames.size())) return std::nullopt;
        request.nodes.push_back({row[0], row[1], static_cast<std::int32_t>(row[2])});
    }
    for (const auto& row : *edges) {
        if (!isIndex(row[0], 0, nodes->size()) || !isIndex(row[1], 0, nodes->size())) return std::nullopt;
        request.edges.push_back({static_cast<std::int32_t>(row[0]), static_cast<std::int32_t>(row[1])});
    }
    why.clear();
    return request;
}

std::string writeAnswer(const Answer& answer) {
    Json frames = Json::array();
    for (const auto& box : answer.frames) {
        frames.push_back(box ? Json{box->left, box->top, box->width, box->height} : Json());
    }
    return Json{{"nodes", answer.nodes},
                {"edges", answer.edges},
                {"frames", std::move(frames)},
                {"size", {answer.width, answer.height}}}
        .dump();
}

}  // namespace orrery::layout
