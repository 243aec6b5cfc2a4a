#pragma once

// The window onto a Scene: pans, zooms, paints, and hands mouse and keys to the active tool (tools/). It changes
// nothing: edits go to the CanvasEditor, selection to the ComponentSelection.

#include "widgets/canvas/component_selection.h"
#include "widgets/canvas/editor.h"
#include "widgets/canvas/scene.h"

#include <QTransform>
#include <QWidget>

#include <functional>
#include <memory>

namespace orrery::ui {

class CanvasTool;

/// The share of time that a component limits, painted on it while results are live.
struct ComponentLoad {
    ComponentPath path;
    double share = 0;  ///< 0…1
    QString text;      ///< `85 % of time`
    QColor colour;
    bool operator==(const ComponentLoad&) const = default;
};

/// A quantity that changes over time, on a component: how busy a link is at a moment.
struct ComponentHeat {
    ComponentPath path;
    double heat = 0;    ///< 0…1 of the scale that the legend shows
    QString text, tip;  ///< `34 %`; what it is, for the card
    bool operator==(const ComponentHeat&) const = default;
};

class CanvasView : public QWidget {
    Q_OBJECT
public:
    enum class Tool { Select, Place, Link, Pan, Measure };

    explicit CanvasView(ComponentSelection* selection, QWidget* parent = nullptr);
    ~CanvasView() override;

    void setEditor(CanvasEditor* editor);  ///< null: looking only
    /// Keeps the view where it is, unless another design is shown (`fit`), or all was shown and now is not: then all is
    /// shown again.
    void setDesign(HardwarePtr hardware, PlacementsPtr placements, bool fit = false);
    void setProblems(const Diagnostics& problems);
    void setLoads(std::vector<ComponentLoad> loads);
    const std::vector<ComponentLoad>& loads() const;
    void setHeat(std::vector<ComponentHeat> heat);  ///< none: nothing is coloured
    const std::vector<ComponentHeat>& heat() const;
    /// What no shown method read, drawn grey with all that is in it; its card says so.
    void setIgnored(std::vector<ComponentPath> ignored);
    /// Components outlined as different from a design beside this one, with what differs as text on hover.
    struct Mark {
        ComponentPath path;
        QString text;
        QColor colour;
    };
    void setMarks(std::vector<Mark> marks);
    void setFound(std::vector<ComponentPath> found);  ///< all matches of a search are outlined
    /// What a device of the library is made of, so that one sees where a dragged one would stand.
    void setLibrary(std::function<std::vector<Component>(const QString& id)> library);

    const Scene& scene() const;
    ComponentSelection* selection() const { return selection_; }

    Tool tool() const;
    void setTool(Tool tool);
    /// The Place tool with what it will place; returns to Select after one unless Shift is held.
    void startPlacing(Component part);
    void startPlacing(std::vector<Component> parts);
    /// Places of others when these parts go into `holder`: its children stay, what it would grow over moves aside.
    std::vector<PlacedAt> roomFor(const ComponentPath& holder, const std::vector<Component>& parts,
                                  const std::vector<Placement>& places) const;
    void cancel();  ///< what Esc does: the tool's gesture, then the tool, then the selection

    // Looking
    QTransform transform() const;  ///< scene to view
    QPointF toScene(const QPointF& view) const;
    QPointF toView(const QPointF& scene) const;
    QRectF visibleArea() const;  ///< scene
    double zoom() const;
    void setZoom(double zoom, const QPointF& fixedInView);
    void fitAll();
    void fitSelection();
    void centreOn(const QPointF& scene);
    void ensureVisible(const ComponentPath& path);
    /// Shows one component's inside as if it were the design; the empty path is all of it.
    void enter(const ComponentPath& path);
    void leave();  ///< one level out
    const ComponentPath& entered() const;
    bool snaps() const;
    void setSnaps(bool on);
    bool showsGrid() const;
    void setShowsGrid(bool on);

    // Edits of the selection, for menus and keys; each is one undo entry, or shows why not
    void removeSelected();
    void duplicateSelected();
    void copySelected();  ///< as YAML text, with placements
    void cutSelected();
    void paste();  ///< at the cursor, into the component under it that may hold it
    void groupSelected();
    void ungroupSelected();
    enum class Alignment { Left, Centre, Right, Top, Middle, Bottom };
    void alignSelected(Alignment alignment);
    void distributeSelected(Qt::Orientation direction);
    void nudgeSelected(const QPointF& by);
    void foldSelected(bool folded);
    void arrangeAutomatically();  ///< the inside of the selection, else of what is entered
    void renameCurrent();         ///< types over the caption
    void selectAll();             ///< everything beside the current component

    /// SVG, PNG or PDF by the file's ending. Returns an error text, empty if done.
    QString exportTo(const QString& file);
    void copyPicture();

signals:
    void toolChanged(orrery::ui::CanvasView::Tool tool);
    void viewChanged();  ///< pan, zoom, size, entered
    void enteredChanged(const orrery::ComponentPath& path);
    void designChanged();
    void hoverChanged(const orrery::ComponentPath& path, bool hovering);
    void componentActivated(const orrery::ComponentPath& path);  ///< double click or Enter
    void refused(const orrery::Diagnostic& why);
    void menuRequested(const QPoint& global);
    /// A device of the library was dropped, `id` as in its MIME data; its first part shall stand at `scene`.
    void libraryDropped(const QString& id, const orrery::ComponentPath& parent, const QPointF& scene);

    /// What the tool waits for, in words, for the status bar; empty: nothing to say.
    void hintChanged(const QString& hint);

public:
    QSize sizeHint() const override { return {900, 600}; }
    QSize minimumSizeHint() const override { return {160, 120}; }
    struct State;  ///< canvas_view_state.h

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragMoveEvent(QDragMoveEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool focusNextPrevChild(bool next) override;

private:
    friend class ToolContext;
    std::unique_ptr<State> state_;
    ComponentSelection* selection_;
};

}  // namespace orrery::ui
