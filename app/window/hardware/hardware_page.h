#pragma once

#include "app/document/document.h"
#include "app/window/page.h"
#include "widgets/canvas/component_selection.h"

#include <memory>

class QSplitter;

namespace orrery::ui {
class CanvasView;
class ComponentTreeView;
class DifferenceList;
}  // namespace orrery::ui

namespace orrery::app {

class Actions;
class CanvasDesk;
class CanvasPane;
class DesignBar;
class DesignDesk;
class DocumentCanvasEditor;
class LimitMarks;
class LinkHeat;

/// The hardware document: the designs as tabs; the component tree beside the canvas; at the right another design, if
/// two are compared. One selection for all of them.
class HardwarePage : public Page {
    Q_OBJECT
public:
    HardwarePage(Studio& studio, QWidget* parent);
    ~HardwarePage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<MenuPart> menus() override;
    bool accepts(const OpenFile& file) const override;
    void open(const QString& path) override;
    bool acceptsDrop(const QMimeData& data) const override;
    void drop(const QMimeData& data) override;
    std::vector<ui::PaletteEntry> findable() override;
    void feed(const ui::SnapshotPtr& snapshot) override;
    bool goTo(const Place& place) override;
    Expected<QStringList> report(const QString& folder) override;

    /// An empty project with an empty design, opened on the canvas (after asking about the open one).
    void drawYourOwn();
    void derivePreset(const QString& id);  ///< the preset into the project, and a copy of it to change
    void insertDevice(const QString& id);  ///< of the catalogue, into the selected component

    ui::ComponentTreeView* tree() const { return tree_; }
    CanvasPane* pane() const { return pane_; }
    CanvasPane* secondPane() const { return second_; }  ///< null until two were compared
    CanvasPane* activePane() const;                     ///< of the active canvas
    ui::CanvasView* canvas() const;                     ///< of the current design
    ui::CanvasView* activeCanvas() const;               ///< the one that was clicked last
    QWidget* canvasArea() const;                        ///< around both canvases
    DesignBar* designs() const { return bar_; }
    LimitMarks& limits() const { return *limits_; }
    ui::DifferenceList* differenceList() const { return differences_; }
    bool isTreeShown() const;
    void setTreeShown(bool shown);
    /// Shows design `index` at the right, with what differs; -1: none.
    void compareWith(int index);
    int compared() const;

signals:
    void canvasMade(orrery::ui::CanvasView* canvas);  ///< the second one, to be wired
    void activeCanvasChanged();

private:
    void setActions(Actions& actions);
    void follow(bool fit);
    void makeSecond();
    void followSecond(bool fit);
    void link(ui::CanvasView* moved, ui::CanvasView* other);
    void selectInBoth(bool fromSecond);

    Studio* studio_ = nullptr;  ///< since it joined, and so are the three below
    LimitMarks* limits_ = nullptr;
    LinkHeat* heat_ = nullptr;
    CanvasDesk* canvasDesk_ = nullptr;
    DesignDesk* designDesk_ = nullptr;
    Document& document_;
    ui::ComponentSelection* selection_;
    ui::ComponentSelection* secondSelection_ = nullptr;
    DesignBar* bar_;
    QSplitter *split_, *canvases_;
    ui::ComponentTreeView* tree_;
    CanvasPane* pane_;
    CanvasPane* second_ = nullptr;
    ui::DifferenceList* differences_;
    std::unique_ptr<DocumentCanvasEditor> editor_, secondEditor_;
    Actions* actions_ = nullptr;
    std::string shown_, secondShown_;  ///< names of the designs shown
    bool secondActive_ = false, linking_ = false;
};

}  // namespace orrery::app
