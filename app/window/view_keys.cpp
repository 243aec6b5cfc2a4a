#include "app/window/view_keys.h"

#include <QCoreApplication>

namespace orrery::app {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("ViewKeys", text);
}

}  // namespace

std::vector<ViewKeys> viewKeys() {
    return {
        {tr("Canvas"),
         {{tr("Nudge by a grid step; without a selection move the view"), tr("Arrows")},
          {tr("Nudge by one unit"), tr("Shift+arrows")},
          {tr("Next and previous sibling; with nothing selected leave the canvas"), tr("Tab, Shift+Tab")},
          {tr("Into the component"), tr("Enter")},
          {tr("Out to the component around it"), tr("Backspace")},
          {tr("Fit all"), tr("Ctrl+0")},
          {tr("Pan with the mouse"), tr("Hold Space")},
          {tr("No snapping; place several parts"), tr("Hold Shift")},
          {tr("Copy what is moved"), tr("Hold Ctrl")},
          {tr("Keep what is moved in its parent"), tr("Hold Alt once it moves")},
          {tr("Stop the gesture, then leave the tool, then the selection"), tr("Esc")},
          {tr("Link tool: use the selected component as an end"), tr("Enter")},
          {tr("Place tool: put the part into the selected component"), tr("Enter")},
          {tr("The canvas's menu"), tr("Menu, Shift+F10")}}},
        {tr("Find bar of the canvas"),
         {{tr("Next and previous match"), tr("Enter, Shift+Enter")}, {tr("Back to the canvas"), tr("Esc")}}},
        {tr("Component tree"),
         {{tr("Show the component"), tr("Enter")}, {tr("Move it among its siblings"), tr("Alt+Up, Alt+Down")}}},
        {tr("Palette and library"),
         {{tr("From the search into the list"), tr("Down")},
          {tr("Place the part, choose the entry"), tr("Enter")},
          {tr("Method on or off"), tr("Space")},
          {tr("Clear the search"), tr("Esc")}}},
        {tr("Workload graph"),
         {{tr("Along edges and across layers"), tr("Arrows")},
          {tr("Producer, consumer"), tr("P, C")},
          {tr("Unfold the group or show the operator; fold the group around it"), tr("Enter, Backspace")},
          {tr("Fit the selection, fit all"), tr("F, Home")},
          {tr("Zoom in and out"), tr("+, -")},
          {tr("Find, next, previous"), tr("Ctrl+F, F3, Shift+F3")}}},
        {tr("Roofline"),
         {{tr("Fit, zoom"), tr("F, +, -")},
          {tr("Next and previous operator"), tr("., ,")},
          {tr("Keep the current points, or remove them"), tr("P")}}},
        {tr("Timeline"),
         {{tr("Zoom in and out"), tr("W, S")},
          {tr("Move left and right"), tr("A, D")},
          {tr("Zoom to the selection, or to all"), tr("F")},
          {tr("Next and previous span"), tr("., ,")},
          {tr("Select an area"), tr("R")},
          {tr("Find"), tr("Ctrl+F")}}},
        {tr("Operators"), {{tr("Find"), tr("Ctrl+F")}, {tr("Copy the rows as CSV"), tr("Ctrl+Shift+C")}}},
        {tr("Problems"),
         {{tr("Go to the place"), tr("Enter")}, {tr("Quick fixes"), tr("Alt+Enter")}, {tr("Copy"), tr("Ctrl+C")}}},
        {tr("Numbers and sliders"),
         {{tr("5 % more or less; with Shift 50 %"), tr("Up, Down; Shift+Up, Shift+Down")},
          {tr("Take it, put it back"), tr("Enter, Esc")}}},
    };
}

}  // namespace orrery::app
