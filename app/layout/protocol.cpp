#include "app/layout/protocol.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace orrery::layout {
namespace {

using Json = nlohmann::json;

bool isSize(double value) {
    return std::isfinite(value) && value > 0 && value <= largestSize;
}

}  // namespace

std::optional<Request> parseRequest(const std::string& text, std::string& why) try {
    const Json json = Json::parse(text);
    Request request;
    request.engine = json.value("engine", "dot");
    request.leftToRight = json.value("leftToRight", false);
    request.titleHeight = json.value("titleHeight", 26.0);
    const Json &nodes = json.at("nodes"), &edges = json.at("edges");
    const Json frames = json.value("frames", Json::array());
    why = "more nodes, edges or frames than are taken on";
    if (nodes.size() > mostNodes || edges.size() > mostEdges || frames.size() > mostFrames) return std::nullopt;
    why = "the engine is not one of dot, neato, sfdp, circo";
    if (request.engine != "dot" && request.engine != "neato" && request.engine != "sfdp" && request.engine != "circo") {
        return std::nullopt;
    }
    why = "a frame, node or edge names what is not there, or a size is not one";
    if (!(request.titleHeight >= 0 && request.titleHeight <= 1000)) return std::nullopt;
    for (const Json& frame : frames) {
        const Request::Frame f{frame.at(0).get<std::int32_t>(), frame.at(1).get<double>()};
        if (f.parent < -1 || f.parent >= static_cast<std::int32_t>(request.frames.size())) return std::nullopt;
        if (!(f.width >= 0 && f.width <= largestSize)) return std::nullopt;
        request.frames.push_back(f);
    }
    for (const Json& node : nodes) {
        const Request::Node n{node.at(0).get<double>(), node.at(1).get<double>(), node.at(2).get<std::int32_t>()};
        if (!isSize(n.width) || !isSize(n.height)) return std::nullopt;
        if (n.frame < -1 || n.frame >= static_cast<std::int32_t>(frames.size())) return std::nullopt;
        request.nodes.push_back(n);
    }
    const auto count = static_cast<std::int32_t>(request.nodes.size());
    for (const Json& edge : edges) {
        const std::array<std::int32_t, 2> e{edge.at(0).get<std::int32_t>(), edge.at(1).get<std::int32_t>()};
        if (e[0] < 0 || e[1] < 0 || e[0] >= count || e[1] >= count) return std::nullopt;
        request.edges.push_back(e);
    }
    why.clear();
    return request;
} catch (const std::exception& error) {
    why = error.what();
    return std::nullopt;
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
